"""Editions: named sets of values where the specifications disagree.

Only values and the way to look them up belong here. No code branches on an edition's name: what
differs is a field, the code reads the field. IDs are those of ``docs/specification.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from scrapy_robotspec.errors import ConfigurationError

HOUR = 3600.0
DAY = 24 * HOUR

#: Accepted spellings of a field (lower case) and the field each of them means.
Spellings = tuple[tuple[bytes, str], ...]

#: Known fields, as the specifications write them.
PLAIN_FIELDS: Spellings = (
    (b"user-agent", "user-agent"),
    (b"allow", "allow"),
    (b"disallow", "disallow"),
    (b"sitemap", "sitemap"),
)

#: FMT-10: what Google's matcher accepts, typing errors included.
GOOGLE_FIELDS: Spellings = (
    *PLAIN_FIELDS,
    *((spelling, "user-agent") for spelling in (b"useragent", b"user agent")),
    *(
        (spelling, "disallow")
        for spelling in (b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw")
    ),
    (b"site-map", "sitemap"),
)


class AgentMatch(Enum):
    """When a group's name still matches a crawler's product token."""

    HYPHEN_PREFIX = "hyphen-prefix"  #: UAG-04: equal, or a prefix that ends before a hyphen
    EQUAL = "equal"  #: UAG-04 (rfc9309, google)
    CONTAINED = "contained"  #: UAG-10 (classic)


class Slashless(Enum):
    """The reading of a path that does not start with ``/`` (RUL-04)."""

    ASSUMED = "assumed"  #: the slash is put in front and counts
    PATTERN = "pattern"  #: a path that starts with ``*`` is a pattern, any other never matches
    NEVER = "never"  #: never matches


class AfterLimit(Enum):
    """The rule once an origin has been unreachable for ``unreachable_limit`` (FET-12)."""

    COPY_OR_ALLOW = "copy or allow"  #: the last good copy; with none no restrictions
    ALLOW_IF_PAGES_ANSWER = "allow if pages answer"  #: no restrictions if pages answer, else none


#: Python up to 3.11 takes long to find a member of an enumeration; each verdict needs some.
CONTAINED, HYPHEN_PREFIX = AgentMatch.CONTAINED, AgentMatch.HYPHEN_PREFIX
SLASH_ASSUMED, _SLASHLESS_PATTERN = Slashless.ASSUMED, Slashless.PATTERN


@dataclass(frozen=True, kw_only=True, slots=True)
class Edition:
    """The choices of one specification where specifications differ.

    ``dataclasses.replace(edition, name="mine", …)`` makes one's own. The defaults are the values
    of ``google-2019``. Times are seconds.
    """

    name: str

    # --- lines
    whitespace: bytes = b" \t"
    """Bytes stripped from line, field and value (FMT-06)."""
    partial_bom: bool = False
    """The first one or two bytes of a byte order mark are skipped too (FMT-05)."""
    known_fields: Spellings = PLAIN_FIELDS
    """Accepted spellings of the known fields (FMT-08, FMT-10)."""
    fields_by_prefix: bool = False
    """A field is known when it begins with a spelling (FMT-14)."""
    missing_colon: bool = False
    """White space may stand in the colon's place (FMT-11)."""
    nul_ends_line: bool = False
    """A NUL byte ends the text of its line (FMT-14)."""
    max_line: int | None = None
    """Bytes of a line that are read; None: only the parsing limit counts (FMT-13)."""
    blank_line_ends_group: bool = False
    """A blank line ends a record (FMT-15, GRP-03)."""
    other_fields: bool = True
    """Sitemaps, crawl-delay and other fields are offered (FMT-15, SIT-01, EXT-01, EXT-03)."""
    parsing_limit: int = 512_000
    """Bytes of a file that are read (FMT-12)."""
    parsing_limit_minimum: int = 1
    """No setting may lower ``parsing_limit`` below this (FMT-12)."""

    # --- groups
    whole_agent_names: bool = False
    """A user-agent line's whole value up to ``/`` is the name (UAG-10), not the leading token."""
    empty_tokens: bool = False
    """A user-agent value without a leading token names the empty token (UAG-03); tokens asked for
    are compared unchecked (UAG-11)."""
    star_ignores_text: bool = True
    """``*`` followed by a character that no token contains is ``*`` (UAG-09)."""
    agent_match: AgentMatch = AgentMatch.HYPHEN_PREFIX
    """UAG-04, UAG-10."""
    combine_tokens: bool = False
    """Several tokens' groups are combined, instead of the first that has one (UAG-07)."""
    case_sensitive_tokens: bool = False
    """The letter of two documents that their own table contradicts (UAG-02)."""

    # --- rules
    wildcards: bool = True
    """``*`` and a final ``$`` are special (PAT-02)."""
    slashless: Slashless = Slashless.PATTERN
    """RUL-04."""
    count_trailing_star: bool = False
    """A trailing ``*`` counts in a pattern's length (PAT-03, PRE-01)."""
    empty_rules_decide_line: bool = False
    """A rule without a path is named where no other matches, and still decides nothing (RUL-02)."""
    semicolon_starts_path: bool = False
    """A URL's path begins at the first ``;`` too, even one inside the authority (PAT-08)."""
    decode_unreserved: bool = True
    """Every character has one canonical spelling (PAT-05, PAT-06, PAT-07, PAT-12)."""
    index_html: bool = False
    """An allow rule for ``…/index.htm`` also allows the directory (PRE-05)."""
    robots_txt_allowed: bool = True
    """``/robots.txt`` itself is always allowed (PRE-04)."""

    # --- access
    too_many_requests_unreachable: bool = False
    """A 429 counts as a server error (FET-09)."""
    minimum_redirects: int = 5
    """No setting may lower the redirects followed below this (FET-03)."""
    recognises_redirect_loops: bool = False
    """A Location already requested in the chain counts as a 404 at once (FET-03)."""
    stale_after: float = 30 * DAY
    """Seconds of being unreachable after which the last good copy decides (FET-13)."""
    allow_without_copy_after: float = float("inf")
    """Seconds of outage after which an origin without a copy is unrestricted (FET-13)."""
    unreachable_limit: float = 30 * DAY
    """Seconds of being unreachable after which ``after_limit`` holds (FET-12)."""
    limit_begins_stale: bool = False
    """The limit counts from ``stale_after`` on, not from the first failure (FET-12)."""
    after_limit: AfterLimit = AfterLimit.COPY_OR_ALLOW
    """FET-12."""

    @property
    def reads_other_spellings(self) -> bool:
        """Whether known fields may continue or lack a colon (FMT-11, FMT-14)."""
        return self.fields_by_prefix or self.missing_colon

    @property
    def star_begins_path(self) -> bool:
        """Whether a path may begin with ``*`` instead of a slash (RUL-04)."""
        return self.wildcards and self.slashless is _SLASHLESS_PATTERN

    def __hash__(self) -> int:
        return hash(self.name)  # editions are keys of caches


_GOOGLE_2019 = Edition(name="google-2019")

#: Agents and rules are searched in the bytes of a file, as ``protocol/agent_index.py`` does, if
#: these have the values of ``google-2019``; in any other edition, if the file's lines are plain.
LINE_FIELDS = (
    "whitespace",
    "known_fields",
    "fields_by_prefix",
    "missing_colon",
    "nul_ends_line",
    "max_line",
    "blank_line_ends_group",
)
_lines_of = attrgetter(*LINE_FIELDS)


@lru_cache
def has_plain_lines(edition: Edition) -> bool:
    """Whether agents and rules can be searched in every file's bytes."""
    return bool(_lines_of(edition) == _lines_of(_GOOGLE_2019))


_RFC9309 = Edition(
    name="rfc9309",
    parsing_limit_minimum=512_000,
    star_ignores_text=False,
    agent_match=AgentMatch.EQUAL,
    count_trailing_star=True,
)
_GOOGLE = Edition(
    name="google",
    whitespace=b" \t\n\v\f\r",
    partial_bom=True,
    known_fields=GOOGLE_FIELDS,
    fields_by_prefix=True,
    missing_colon=True,
    nul_ends_line=True,
    max_line=16_663,
    empty_tokens=True,
    star_ignores_text=False,
    agent_match=AgentMatch.EQUAL,
    combine_tokens=True,
    count_trailing_star=True,
    empty_rules_decide_line=True,
    semicolon_starts_path=True,
    decode_unreserved=False,
    index_html=True,
    robots_txt_allowed=False,
    too_many_requests_unreachable=True,
    stale_after=12 * HOUR,
    allow_without_copy_after=12 * HOUR,
    limit_begins_stale=True,
    after_limit=AfterLimit.ALLOW_IF_PAGES_ANSWER,
)
_GOOGLE_2010 = Edition(
    name="google-2010",
    slashless=Slashless.ASSUMED,
    minimum_redirects=0,
    recognises_redirect_loops=True,
)
_CLASSIC = replace(
    _GOOGLE_2010,
    name="classic",
    blank_line_ends_group=True,
    other_fields=False,
    whole_agent_names=True,
    star_ignores_text=False,
    agent_match=AgentMatch.CONTAINED,
    wildcards=False,
    slashless=Slashless.NEVER,
)

#: The presets by name.
EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {e.name: e for e in (_GOOGLE_2019, _RFC9309, _GOOGLE, _GOOGLE_2010, _CLASSIC)}
)
#: Bytes of a file that some preset reads; no preset misses what follows.
MAX_PARSED = max(edition.parsing_limit for edition in EDITIONS.values())


def longest_line(edition: Edition) -> int:
    """Max bytes of a line that all presets and an edition read."""
    limits = (each.max_line for each in (edition, *EDITIONS.values()))
    return min(limit for limit in limits if limit is not None)


def get_edition(edition: str | Edition | Mapping[str, Any]) -> Edition:
    """The edition for a name, an :class:`Edition`, or a mapping.

    Overrides may be as JSON gives them: an enumeration by its value, bytes as ASCII text.
    Raises :class:`~scrapy_robotspec.errors.ConfigurationError` for an unknown name or field, or a
    value that a field cannot have.
    """
    if isinstance(edition, Edition):
        return edition
    if not isinstance(edition, Mapping):
        if edition not in EDITIONS:
            known = ", ".join(EDITIONS)
            raise ConfigurationError(f"unknown edition {edition!r}: use one of {known}")
        return EDITIONS[edition]
    from scrapy_robotspec.edition_changes import value_of  # few users change a field

    overrides = dict(edition)
    base = get_edition(overrides.pop("base", _GOOGLE_2019.name))
    overrides.setdefault("name", f"{base.name} (modified)")
    changed = {name: value_of(_GOOGLE_2019, name, raw) for name, raw in overrides.items()}
    return replace(base, **changed)
