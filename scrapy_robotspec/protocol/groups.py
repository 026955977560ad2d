"""Lines -> groups (GRP-01).

Reads every line, in every edition. ``agent_index.py`` finds the groups of one crawler faster.
Patterns are still bytes here; nothing is matched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.protocol.agent_index import Place, Span, add_group, numbers_of
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.lines import (
    RawRule,
    field_for,
    read_lines,
    rule_of,
    skip_byte_order_mark,
    split_line,
)
from scrapy_robotspec.protocol.models import DEFAULT, Group, Rule, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line

#: Fields of the protocol's own lines.
STRUCTURE = ("user-agent", "allow", "disallow")
#: RFC 9309 section 2.2: NL = %x0D / %x0A / %x0D.0A; also the end of the file (FMT-02).
_LINE_END = re.compile(rb"[\r\n]|\Z").search
#: RFC 3986 section 2: a URI has no blank and no control character (SIT-03).
_BROKEN_URL = re.compile(r"[\x00-\x20\x7f]|,https?://")  # or two with a comma
#: RFC 1123 section 2.1: labels of letters, digits and hyphens; DNS has underscores, IDNA more.
_LABEL = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\.?|.*:.*")  # or an IPv6 address
#: Max characters of any other URL (SAF-02): its host is normalized in the square of its length.
_MAX_URL = 4096
_USUAL_URL = re.compile(r"https?://(?:[\w-]+\.)+[\w-]+/[!-+\--~]*", re.A)


class RawOther(NamedTuple):
    """A line with a field that the protocol does not know."""

    line: Line
    agents_above: int
    """How many agents its group names above it: it holds for those (EXT-01)."""
    agents_before: int
    """How many of them are above an earlier Content-Usage line, which ends their list (USE-08)."""


@dataclass(slots=True, eq=False)
class RawGroup:
    """A group with its lines."""

    end: int
    """Offset of what follows its lines."""
    agents: list[Line] = field(default_factory=list)
    """The user-agent lines."""
    parted: list[tuple[Line, Line]] = field(default_factory=list)
    """The two around lines that are neither agents nor rules."""
    names: list[str] = field(default_factory=list)
    """The agents, one for each line that names any."""
    keys: list[str] = field(default_factory=list)
    """Their keys."""
    places: dict[str, list[int]] = field(default_factory=dict)
    """Where each key stands among them."""
    rules: list[Line] = field(default_factory=list)
    others: list[RawOther] = field(default_factory=list)
    blank: float = inf
    """Offset of its first blank line, if these are read."""

    @property
    def first_line(self) -> int:
        """Number of its first line, from 1."""
        return self.agents[0].number

    @property
    def crawler(self) -> str | None:
        """The first crawler that it names; else an empty name, or None."""
        return next(filter(None, self.names), "" if self.names else None)

    @property
    def span(self) -> Span:
        """Where its rules are."""
        return (self.rules[0].start if self.rules else self.end), self.end

    @property
    def raw_rules(self) -> list[RawRule]:
        """The rules, without their lines."""
        return [(line.field == "allow", line.value, line.start) for line in self.rules]

    def others_for(self, followed: Collection[str], edition: Edition) -> list[Line]:
        """The other lines of the *followed* keys (EXT-01, EXT-03).

        A line holds if one of them is among the agents above it.
        """
        if not self.others:
            return []
        places = sorted(place for key in followed for place in self.places.get(key, ()))
        default = self.places.get(DEFAULT, [inf])[0] if edition.whole_agent_names else inf
        return [
            line
            for line, above, before in self.others
            if bisect_left(places, before) < bisect_left(places, above)
            and (DEFAULT in followed or above <= default)  # UAG-10
        ]


class AllGroups:
    """Every group of a file."""

    def __init__(self, body: bytes, edition: Edition, lines: Iterable[Line] | None = None) -> None:
        """*lines*: those of :func:`read_lines`, or every line, where they have been read."""
        self.body = body
        self.edition = edition
        self.groups: list[RawGroup] = []
        self.signals: list[Line] = []
        """Content signals above the first group: they hold for all (USE-07)."""
        self.licenses: list[bytes] = []
        """Values of license lines, wherever they stand (USE-06)."""
        self.outside: list[Line] = []
        """Lines with a field outside of groups."""
        self.written: dict[str, str] = {}
        """Values of user-agent lines as first written, by the names that they are read as."""
        self.has_rules = True
        self._read(read_lines(body, edition) if lines is None else lines)
        self.places: dict[str, Place] = {}
        """The names that select a group, in file order, and where."""
        for number, group in enumerate(self.groups):
            firsts = {key: group.names[places[0]] for key, places in group.places.items()}
            add_group(self.places, firsts, number, edition.whole_agent_names)

    def others_for(self, keys: Sequence[str]) -> list[Line]:
        """The other lines for a crawler that follows some keys."""
        lines = [*self.signals]
        for number in numbers_of(self.places, [key for key in keys if key in self.places]):
            lines += self.groups[number].others_for(keys, self.edition)
        return lines

    @property
    def license_urls(self) -> tuple[str, ...]:
        """The absolute URLs of the license lines (USE-06; RSL 1.0, section 4)."""
        return tuple(filter(is_absolute, map(decode, self.licenses)))

    def forget_rules(self) -> None:
        """Keep the other lines alone, and their groups' names."""
        self.has_rules = False
        self.outside, self.written = [], {}
        numbers = [number for number, group in enumerate(self.groups) if group.others]
        self.groups = [self.groups[number] for number in numbers]
        new = {number: at for at, number in enumerate(numbers)}
        places = {
            key: (name, [new[number] for number in all_numbers if number in new])
            for key, (name, all_numbers) in self.places.items()
        }
        self.places = {key: place for key, place in places.items() if place[1]}
        for group in self.groups:
            group.agents = group.rules = []
            group.parted = []

    @cached_property
    def rules(self) -> Mapping[int, Rule]:
        """The rules as written, by the offsets of their lines."""
        return {line.start: rule_of(line) for group in self.groups for line in group.rules}

    def as_written(self) -> tuple[Group, ...]:
        """The groups with their lines (GRP-01)."""
        return tuple(
            Group(
                tuple(group.names),
                tuple(self.rules[line.start] for line in group.rules),
                group.first_line,
            )
            for group in self.groups
        )

    def _read(self, lines: Iterable[Line]) -> None:
        """Read the groups (GRP-01 to GRP-06)."""
        group: RawGroup | None = None
        before = 0  # agents whose list a Content-Usage line has ended (USE-08)
        states_usage = is_parted = False
        white = self.edition.whitespace
        for line in lines:
            name = line.field
            if name == "allow" or name == "disallow":  # hot path
                (self.outside if group is None else group.rules).append(line)
                continue
            if name == "license":
                self.licenses.append(line.value)
            if name == "user-agent":
                if group is None or group.rules:  # a rule line ends the list of agents
                    if group is not None:
                        group.end = line.start
                    group = RawGroup(len(self.body))
                    self.groups.append(group)
                    before = 0
                else:
                    if is_parted:
                        group.parted.append((group.agents[-1], line))
                    if states_usage:
                        before = len(group.names)
                states_usage = is_parted = False
                group.agents.append(line)
                if (agent := named_agent(line.value, self.edition)) is not None:
                    key = key_of(agent, self.edition)
                    group.places.setdefault(key, []).append(len(group.names))
                    group.names.append(agent)
                    group.keys.append(key)
                    self.written.setdefault(agent, decode(line.value))
            elif name == "":
                if group is not None and not line.text.strip(white):
                    is_parted = True
                    group.blank = min(group.blank, line.start)
                    if self.edition.blank_line_ends_group:  # FMT-15
                        group.end = line.start
                        group = None
            elif group is None:  # no other line has an effect here (GRP-05)
                self.outside.append(line)
                if name == "content-signal" and not self.groups:
                    self.signals.append(line)
            else:
                is_parted = True
                if name != "sitemap":
                    is_usage = name == "content-usage"
                    states_usage = states_usage or is_usage
                    above = len(group.names)
                    group.others.append(RawOther(line, above, before if is_usage else 0))


def is_absolute(url: str) -> bool:
    """Whether a URL is absolute, and its host can exist (SIT-03)."""
    if _USUAL_URL.fullmatch(url):  # hot path
        return True
    try:
        parts = urlsplit(url if len(url) < _MAX_URL else "")
        complete = parts.scheme and _HOST.fullmatch(parts.hostname or "") and parts.port != 0
        return bool(complete and not _BROKEN_URL.search(url))
    except ValueError:
        return False


def read_sitemaps(body: bytes, edition: Edition, origin: str = "") -> tuple[str, ...]:
    """The absolute URLs of the sitemap lines, in file order (SIT-01).

    ``origin``: that of the file, if known; URLs that begin with a slash are its own (SIT-03).
    """
    if not edition.other_fields:
        return ()
    urls: list[str] = []
    lowered = body.lower()
    search = _sitemap_search(edition)
    begin = skip_byte_order_mark(body, edition)
    while begin <= len(body) and (found := search(lowered, begin)):
        at = found.start()
        start = 1 + max(body.rfind(b"\n", begin, at), body.rfind(b"\r", begin, at), begin - 1)
        end = _LINE_END(body, at).start()  # type: ignore[union-attr]  # there always is one
        begin = end + 1
        name, value = split_line(body[start:end], edition) or (b"", b"")
        if field_for(name, edition) != "sitemap":
            continue
        url = decode(value)
        if url.startswith("/"):
            url = f"{origin.partition('/')[0] if url.startswith('//') else origin}{url}"
        if is_absolute(url):
            urls.append(url)
    return tuple(urls)


@lru_cache
def _sitemap_search(edition: Edition) -> Callable[[bytes, int], re.Match[bytes] | None]:
    """Finds the spellings of the field in text in lower case."""
    spellings = {spelling for spelling, field in edition.known_fields if field == "sitemap"}
    return re.compile(b"|".join(map(re.escape, {b"sitemap", *spellings}))).search
