"""Lines -> groups (GRP-01).

Reads every line, in every edition. ``agent_index.py`` finds the groups of one crawler faster.
Patterns are still bytes here; nothing is matched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.protocol.agent_index import Place, Span, add_agent, numbers_of
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.lines import (
    RawRule,
    field_for,
    read_lines,
    rules_at,
    skip_byte_order_mark,
    split_line,
)
from scrapy_robotspec.protocol.models import DEFAULT, Group, Rule, decode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line


#: RFC 9309 section 2.2: NL = %x0D / %x0A / %x0D.0A; also the end of the file (FMT-02).
_LINE_END = re.compile(rb"[\r\n]|\Z").search
#: RFC 3986 section 2: a URI has no blank and no control character (SIT-03).
_BROKEN_URL = re.compile(r"[\x00-\x20\x7f]")
_USUAL_URL = re.compile(r"https?://[A-Za-z0-9.-]+/[!-~]*")


class RawOther(NamedTuple):
    """A line with a field that the protocol does not know."""

    field: str
    value: bytes
    number: int
    """Number of the line in the file, from 1."""
    agents_above: int
    """How many agents its group names above it: it holds for those (EXT-01)."""
    agents_before: int = 0
    """How many of them are above an earlier Content-Usage line, which ends their list (USE-08)."""


@dataclass(slots=True)
class RawGroup:
    """A group while it is read."""

    first_line: int
    """Line number of the first user-agent line, from 1."""
    end: int
    """Offset of what follows its lines."""
    names: list[str] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    """Where each key stands among the names."""
    rules: list[RawRule] = field(default_factory=list)
    others: list[RawOther] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where its rules are."""
        return (self.rules[0][2] if self.rules else self.end), self.end

    def others_for(self, followed: Collection[str], edition: Edition) -> list[RawOther]:
        """The other lines of the *followed* keys (EXT-01, EXT-03).

        A line holds if one of them is among the agents above it.
        """
        if not self.others:
            return []
        places = sorted(place for key in followed for place in self.places.get(key, ()))
        default = self.places.get(DEFAULT, [inf])[0] if edition.whole_agent_names else inf
        return [
            line
            for line in self.others
            if bisect_left(places, line.agents_before) < bisect_left(places, line.agents_above)
            and (DEFAULT in followed or line.agents_above <= default)  # UAG-10
        ]


class AllGroups:
    """Every group of a file."""

    def __init__(self, body: bytes, edition: Edition, lines: Iterable[Line] | None = None) -> None:
        """*lines*: those of :func:`read_lines`, or every line, where they have been read."""
        self.body = body
        self.edition = edition
        self.groups: list[RawGroup] = []
        self.signals: list[RawOther] = []
        """Content signals above the first group: they hold for all (USE-07)."""
        self.licenses: list[bytes] = []
        """Values of license lines, wherever they stand (USE-06)."""
        self.written: dict[str, str] = {}
        """Values of user-agent lines as first written, by the names that they are read as."""
        self.has_rules = True
        self._read(read_lines(body, edition) if lines is None else lines)
        self.places: dict[str, Place] = {}
        """The names that select a group, in file order, and where."""
        for number, group in enumerate(self.groups):
            firsts = {key: group.names[places[0]] for key, places in group.places.items()}
            if edition.whole_agent_names and DEFAULT in firsts:
                firsts = {DEFAULT: DEFAULT}  # UAG-10: its other names do not count
            for key, name in firsts.items():
                add_agent(self.places, key, name, number)

    def others_for(self, keys: Sequence[str]) -> list[RawOther]:
        """The other lines for a crawler that follows some keys."""
        groups = [self.groups[number] for number in numbers_of(self.places, keys)]
        return [line for group in groups for line in group.others_for(keys, self.edition)]

    @property
    def license_urls(self) -> tuple[str, ...]:
        """The absolute URLs of the license lines (USE-06; RSL 1.0, section 4)."""
        return tuple(filter(is_absolute, map(decode, self.licenses)))

    def forget_rules(self) -> None:
        """Keep the other lines alone."""
        self.has_rules = False
        for group in self.groups:
            group.rules = []

    @cached_property
    def rules(self) -> Mapping[int, Rule]:
        """The rules as written, by the offsets of their lines."""
        starts = (start for group in self.groups for _, _, start in group.rules)
        return rules_at(self.body, starts, self.edition)

    def as_written(self) -> tuple[Group, ...]:
        """The groups with their lines (GRP-01)."""
        return tuple(
            Group(
                tuple(group.names),
                tuple(self.rules[start] for _, _, start in group.rules),
                group.first_line,
            )
            for group in self.groups
        )

    def _read(self, lines: Iterable[Line]) -> None:
        """Read the groups (GRP-01 to GRP-06)."""
        group: RawGroup | None = None
        before = 0  # agents whose list a Content-Usage line has ended (USE-08)
        states_usage = False
        white = self.edition.whitespace
        for number, start, text, _, name, value in lines:
            if name == "allow" or name == "disallow":  # hot path
                if group is not None:
                    group.rules.append((name == "allow", value, start))
                continue
            if name == "license":
                self.licenses.append(value)
            if name == "user-agent":
                if group is None or group.rules:  # a rule line ends the list of agents
                    if group is not None:
                        group.end = start
                    group = RawGroup(number, len(self.body))
                    self.groups.append(group)
                    before = 0
                elif states_usage:
                    before = len(group.names)
                states_usage = False
                if (agent := named_agent(value, self.edition)) is not None:
                    key = key_of(agent, self.edition)
                    group.places.setdefault(key, []).append(len(group.names))
                    group.names.append(agent)
                    if agent not in self.written:  # a long one is kept once
                        self.written[agent] = agent if value == agent.encode() else decode(value)
            elif group is None:  # no other line has an effect here (GRP-05)
                if name == "content-signal" and not self.groups:
                    self.signals.append(RawOther(name, value, number, 0))
            elif name == "":
                if self.edition.blank_line_ends_group and not text.strip(white):  # FMT-15
                    group.end = start
                    group = None
            elif name != "sitemap":
                is_usage = name == "content-usage"
                states_usage = states_usage or is_usage
                above = len(group.names)
                group.others.append(RawOther(name, value, number, above, before if is_usage else 0))


def is_absolute(url: str) -> bool:
    """Whether a sitemap's URL is absolute: scheme, host, no white space (SIT-03)."""
    if _USUAL_URL.fullmatch(url):  # hot path
        return True
    try:
        parts = urlsplit(url)
        complete = parts.scheme and parts.hostname and parts.port != 0
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
    end = skip_byte_order_mark(body, edition)
    while (at := lowered.find(b"map", end)) >= 0:
        start = 1 + max(body.rfind(b"\n", end, at), body.rfind(b"\r", end, at), end - 1)
        end = _LINE_END(body, at).start()  # type: ignore[union-attr]  # there always is one
        name, value = split_line(body[start:end], edition) or (b"", b"")
        if field_for(name, edition) != "sitemap":
            continue
        url = decode(value)
        if url.startswith("/"):
            url = f"{origin.partition('/')[0] if url.startswith('//') else origin}{url}"
        if is_absolute(url):
            urls.append(url)
    return tuple(urls)
