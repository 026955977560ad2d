"""Lines -> groups (GRP-01).

Reads every line, in every edition. ``agent_index.py`` finds the groups of one crawler faster.
Patterns are still bytes here; nothing is matched.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.protocol.agent_index import (
    MANY,
    NewPlaces,
    Places,
    Span,
    Spans,
    add_group,
    numbers_of,
)
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.lines import (
    Line,
    RawRule,
    field_for,
    lines_at,
    raw_rules,
    read_lines,
    rule_of,
    skip_byte_order_mark,
    split_line,
)
from scrapy_robotspec.protocol.models import DEFAULT, Group, Rule, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from scrapy_robotspec.editions import Edition

#: Fields of the protocol's own lines.
STRUCTURE = ("user-agent", "allow", "disallow")
#: Fields of other lines that are asked for by themselves.
ASKED_FIELDS = ("crawl-delay", "content-usage", "content-signal")
_NUMBERS = {field: number for number, field in enumerate(ASKED_FIELDS, 1)}
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
    firsts: dict[str, str] = field(default_factory=dict)
    """The first agent of each key."""
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


class AllGroups:
    """Every group of a file."""

    def __init__(self, body: bytes, edition: Edition, lines: Iterable[Line] | None = None) -> None:
        """*lines*: those of :func:`read_lines`, or every line, where they have been read."""
        self.body = body
        self.edition = edition
        self.groups: list[RawGroup] = []
        self.signals: list[Line] = []
        """Content signals above the first group: they hold for all (USE-07)."""
        self.licenses: list[Line] = []
        """License lines, wherever they stand (USE-06)."""
        self.outside: list[Line] = []
        """Lines with a field outside of groups."""
        self.written: dict[str, str] = {}
        """Values of user-agent lines as first written, by the names that they are read as."""
        self._read(read_lines(body, edition) if lines is None else lines)
        self.places: NewPlaces = {}
        """The names that select a group, in file order, and where."""
        for number, group in enumerate(self.groups):
            add_group(self.places, group.firsts, number, edition.whole_agent_names)

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
                self.licenses.append(line)
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
                    group.firsts.setdefault(key, agent)
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


class OtherLines:
    """Lines with other fields, by agents above them (EXT-01, EXT-03).

    Offsets alone are kept: a crawl asks for the lines once.
    """

    def __init__(self, every: AllGroups) -> None:
        self.signals = tuple([line.start for line in every.signals])
        """Content signals above the first group: they hold for all (USE-07)."""
        self.licenses = tuple([line.start for line in every.licenses])
        """License lines, wherever they stand (USE-06)."""
        #: Four numbers for each line: its offset, that of its field, and how many agents are above
        #: it, and above an earlier Content-Usage line of its group (USE-08).
        self._lines = array("I")
        #: The number of the first agent of each group with such lines, and of these among all.
        self._first_agents, self._first_lines = array("I"), array("I")
        places: NewPlaces = {}
        agents = 0
        for group in every.groups:
            if not group.others:
                continue
            self._first_agents.append(agents)
            self._first_lines.append(len(self._lines))
            for line, above, before in group.others:
                number = _NUMBERS.get(line.field, 0)
                self._lines.extend((line.start, number, agents + above, agents + before))
            is_for_default = every.edition.whole_agent_names and DEFAULT in group.firsts
            for number, key in enumerate(group.keys, agents):
                if key == DEFAULT or not is_for_default:  # UAG-10: its other names do not count
                    places.setdefault(key, (key, []))[1].append(number)
            agents += len(group.keys)
        self._first_lines.append(len(self._lines))
        self._places: Places = places
        if agents >= MANY:
            from scrapy_robotspec.protocol.packed import PackedPlaces  # few files

            self._places = PackedPlaces(places)

    def starts_for(self, keys: Iterable[str], fields: Collection[str] = ()) -> array[int]:
        """The offsets of a crawler's lines, or of those with some :data:`ASKED_FIELDS`.

        A line holds if the crawler follows one of the agents above it.
        """
        wanted = {_NUMBERS[field] for field in fields} or range(len(ASKED_FIELDS) + 1)
        found = array("I", self.signals if _NUMBERS["content-signal"] in wanted else ())
        agents = numbers_of(self._places, [key for key in keys if key in self._places])
        for group in sorted({bisect_right(self._first_agents, agent) - 1 for agent in agents}):
            lines = iter(self._lines[self._first_lines[group] : self._first_lines[group + 1]])
            for start, number, above, before in zip(lines, lines, lines, lines, strict=True):
                if number in wanted and bisect_left(agents, before) < bisect_left(agents, above):
                    found.append(start)
        return found


def rules_among(
    body: bytes, starts: Sequence[int], spans: Spans, edition: Edition
) -> list[RawRule]:
    """The rules in some spans, of those whose lines begin at *starts*."""
    parts = (starts[bisect_left(starts, begin) : bisect_left(starts, end)] for begin, end in spans)
    return raw_rules(lines_at(body, chain.from_iterable(parts), edition))


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
