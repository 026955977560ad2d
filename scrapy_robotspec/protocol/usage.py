"""Usage preferences: what may be done with a crawled page.

Values, and the parsing of one statement (USE-04, USE-07). ``usage_rules.py`` finds the statements
of a file that hold for a URL. Sources: aipref-attach-05, aipref-vocab-07,
draft-kelley-aipref-training-preference-signal-00, contentsignals.org.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from scrapy_robotspec.protocol.models import POLICY_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Preference = Literal["allow", "disallow"]
UsageSource = Literal["content-usage", "content-signal", "policy-token", "header"]

#: Fields of a file that state usage preferences.
USAGE_FIELDS: tuple[UsageSource, ...] = ("content-usage", "content-signal")

#: RFC 9651 section 3.1.2:
#:     key = ( lcalpha / "*" ) *( lcalpha / DIGIT / "_" / "-" / "." / "*" )
_LABEL = re.compile("[a-z*][a-z0-9_.*-]*")

_PAIR = r"[a-z*][a-z0-9_.*-]*=[A-Za-z*][A-Za-z0-9_.*-]*"
#: RFC 9651 section 3.2:
#:     sf-dictionary = dict-member *( OWS "," OWS dict-member )
#:     dict-member = member-key ( parameters / ( "=" member-value ) )
#: where each value is a token of common characters, without parameters. Others are parsed in full.
_TOKENS_ONLY = re.compile(rf"{_PAIR}(?:[ \t]*,[ \t]*{_PAIR})*")

#: Tokens of a dictionary's values, and words of a signal (USE-04, USE-07).
_MEANINGS: Mapping[str, Preference] = {"y": "allow", "n": "disallow"}
_SIGNAL_MEANINGS: Mapping[str, Preference] = {"yes": "allow", "no": "disallow"}
_WHITE = " \t"
#: Content-Signal's names of labels that aipref-vocab spells otherwise (USE-07).
_SIGNAL_LABELS = {"ai-train": "train-ai"}


@dataclass(frozen=True, slots=True)
class UsageStatement:
    """One line of a file, or one header field, that states preferences.

    With a policy token, the line is the rule that disallows the page.
    """

    source: UsageSource
    value: str
    """The preferences as written, without the path; or the policy token."""
    path: str | None = None
    """The path pattern as written; None: the whole origin, or the response of a header."""
    line: int | None = None
    """Number of the line in the file, from 1; None for a header."""

    @property
    def preferences(self) -> Mapping[str, Preference]:
        """This statement's preferences by label; absent: unknown."""
        return MappingProxyType(parse_preferences(self.source, self.value))


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage preferences of one page, with the statements they come from.

    ``usage | other`` combines two sources: a label that any of them disallows is disallowed, else
    one that any of them allows is allowed (USE-04). Values can be compared, hashed and pickled.
    """

    applies: bool = True
    """False where robots.txt disallows the URL: such a page has no preferences (USE-03)."""
    preferences: Mapping[str, Preference] = field(default_factory=dict)
    """Preference by label (case-sensitive); an absent label is unknown."""
    statements: tuple[UsageStatement, ...] = ()
    """The statements that decide, in file order, a header last."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "preferences", MappingProxyType(dict(self.preferences)))

    @classmethod
    def from_header(cls, value: bytes | str) -> Usage:
        """Read a response's ``Content-Usage`` header (USE-05).

        Several header lines are joined with a comma before. No value raises: one that does not
        parse states nothing. Any type but bytes and str is a ``TypeError``.
        """
        if isinstance(value, bytes):
            value = value.decode("utf-8", "backslashreplace")
        elif not isinstance(value, str):
            raise TypeError(f"a header value must be bytes or str, not {type(value).__name__}")
        return usage_of((UsageStatement("header", value.strip(" \t")),))

    def __or__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(
            self.applies or other.applies,
            combine((self.preferences, other.preferences)),
            tuple(dict.fromkeys((*self.statements, *other.statements))),
        )

    def __hash__(self) -> int:
        return hash((self.applies, frozenset(self.preferences.items()), self.statements))

    def __reduce__(self) -> tuple[type[Usage], tuple[object, ...]]:
        return Usage, (self.applies, dict(self.preferences), self.statements)


@lru_cache(64)
def with_header(usage: Usage | None, header: bytes) -> Usage:
    """*usage* of a file with that of a response's header (USE-05).

    Pages of a site repeat both: each pair is combined once.
    """
    return (usage or Usage()) | Usage.from_header(header)


def is_label(text: str) -> bool:
    """Whether a text can be the label of a preference."""
    return _LABEL.fullmatch(text) is not None


def usage_of(statements: tuple[UsageStatement, ...]) -> Usage:
    """The usage that some statements combine to, whatever their order (USE-02, USE-04)."""
    stated = dict.fromkeys((each.source, each.value) for each in statements)
    return Usage(True, combine(parse_preferences(*each) for each in stated), statements)


def combine(sources: Iterable[Mapping[str, Preference]]) -> dict[str, Preference]:
    """Preferences of several sources as one, label by label (aipref-vocab, section 7.1)."""
    combined: dict[str, Preference] = {}
    for preferences in sources:
        for label, preference in preferences.items():
            if combined.get(label) != "disallow":
                combined[label] = preference
    return combined


def parse_preferences(source: UsageSource, value: str) -> dict[str, Preference]:
    """Preferences by label, of a dictionary (RFC 9651) or a signal.

    Only the tokens ``y`` and ``n`` count; a dictionary that does not parse has none.
    """
    if source == "content-signal":
        return _parse_signal(value)
    if source == "policy-token":
        return {POLICY_TOKENS[value.lower()]: "disallow"}
    members = parse_dictionary(value) or {}
    return {label: _MEANINGS[word] for label, word in members.items() if word and word in _MEANINGS}


def parse_dictionary(value: str) -> dict[str, str | None] | None:
    """The members of a dictionary (RFC 9651) that are tokens.

    The value of any other member is None. None for a syntax error.
    """
    if _TOKENS_ONLY.fullmatch(value):  # usual
        pairs = (pair.strip(_WHITE).partition("=") for pair in value.split(","))
        return {label: word for label, _, word in pairs}
    import http_sf  # takes longer to import than this package, and few files need it

    try:
        # Non-ASCII bytes fail to parse however they were decoded.
        members: Any = http_sf.parse(value.encode("utf-8", "surrogatepass"), tltype="dictionary")
    except http_sf.StructuredFieldError:
        return None
    return {
        label: str(member) if isinstance(member, http_sf.Token) else None
        for label, (member, _) in members.items()
    }


def written_parts(value: str) -> Iterator[tuple[str, str]]:
    """The names and words of a Content-Signal line, in lower case (USE-07)."""
    for part in value.lower().split(","):
        name, _, word = part.partition("=")
        yield name.strip(_WHITE), word.strip(_WHITE)


def signal_parts(value: str) -> Iterator[tuple[str, str]]:
    """The labels and words of a Content-Signal line (USE-07)."""
    return ((_SIGNAL_LABELS.get(name, name), word) for name, word in written_parts(value))


def _parse_signal(value: str) -> dict[str, Preference]:
    """Preferences of a Content-Signal line, part by part (USE-07)."""
    return combine(
        {label: _SIGNAL_MEANINGS[word]}
        for label, word in signal_parts(value)
        if word in _SIGNAL_MEANINGS and is_label(label)
    )
