"""The groups of a file (GRP), and what they allow to crawlers.

A sentence about an effect is made here, from verdicts that it carries as claims. The rules of
groups that crawlers combine alike are read once. A file can combine them in more ways than it has
lines; beyond a bound no effect is stated (SAF-02).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agent_index import numbers_of
from scrapy_robotspec.protocol.agents import followed_keys, key_of, named_agent
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.lint.findings import Claim, Effect, Findings, shown
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.precedence import forbids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.agent_index import Spans
    from scrapy_robotspec.protocol.lines import Line, RawRule
    from scrapy_robotspec.protocol.robots_file import RobotsFile

#: Fields of lines that hold for the crawlers named above them, rules aside.
_GROUP_FIELDS = frozenset({"crawl-delay", "request-rate", "visit-time", "content-usage"})
#: Most names of groups that are compared with one another.
_MOST_NAMES = 20
#: Where no effect is stated.
_UNKNOWN = Effect("reads it as it stands")
#: Max bytes of groups that are read, as a multiple of the file's.
READINGS = 4


@dataclass(slots=True, eq=False)
class Group:
    """A group as the edition reads it."""

    first: Line
    agents: list[Line] = field(default_factory=list)
    """The user-agent lines."""
    crawler: str | None = None
    """The first crawler that they name, as written."""
    keys: list[str] = field(default_factory=list)
    """Keys of the crawlers that they name, one for each line that names any."""
    rules: list[Line] = field(default_factory=list)
    delays: list[tuple[Line, int]] = field(default_factory=list)
    """Crawl delays, each with the number of keys above it."""
    above_blank: int | None = None
    """Number of rules above its first blank line; None: it has no blank line."""
    usage_begin: int = 0
    """Number of keys above the last Content-Usage line that another user-agent line follows."""
    states_usage: bool = False
    """Whether a Content-Usage line follows the last user-agent line."""
    separated: bool = False
    """Whether another line followed the last user-agent line."""
    default: Line | None = None
    """The last user-agent line of ``*``."""
    shared_default: Line | None = None
    """The user-agent line of ``*``, if a line without a rule and other names follow it."""


class GroupReader:
    """Takes lines one by one and tracks their groups."""

    def __init__(self, findings: Findings) -> None:
        self._edition = findings.edition
        self._findings = findings
        #: That of the last line.
        self.group: Group | None = None
        self.groups: list[Group] = []

    def crawlers(self, field: str) -> tuple[str, ...]:
        """The crawlers that a usage line here applies to.

        A group with many names equals no other one: its line number is appended.
        """
        if self.group is None:
            return ()
        keys = self.group.keys[self.group.usage_begin if field == "content-usage" else 0 :]
        if len(keys) > _MOST_NAMES:
            return (*keys[:_MOST_NAMES], str(self.group.first.number))
        return tuple(sorted(set(keys), reverse=True))

    def read(self, line: Line) -> None:
        """Take the next line."""
        if line.field == "disallow" or line.field == "allow":  # hot path
            if self.group is None:
                self._add_outside(line, "rule")
            else:
                self.group.rules.append(line)
        elif line.field == "user-agent":
            self._read_agent(line)
        elif line.field:
            self._read_other(line)
        elif not line.text.strip(self._edition.whitespace):
            self._read_blank()

    def _read_blank(self) -> None:
        group = self.group
        if group is None:
            return
        if group.above_blank is None:
            group.above_blank = len(group.rules)
        group.separated = not group.rules
        if self._edition.blank_line_ends_group:
            self.group = None

    def _read_other(self, line: Line) -> None:
        group = self.group
        if group is not None:
            group.separated = not group.rules
            group.states_usage = group.states_usage or line.field == "content-usage"
            if line.field == "crawl-delay":
                group.delays.append((line, len(group.keys)))
        elif line.field in _GROUP_FIELDS and (
            self._edition.other_fields or line.field == "content-usage"
        ):
            self._add_outside(line, "line")

    def _read_agent(self, line: Line) -> None:
        group = self.group
        if group is None or group.rules:
            group = self._begin(line)
        elif group.separated:
            fault = "No rule stands between this user-agent line and the last"
            self._findings.add(line, "RS208", fault, "reads one group")
            group.separated = False
            group.shared_default = group.shared_default or group.default
        if group.states_usage:  # USE-08
            group.usage_begin, group.states_usage = len(group.keys), False
        group.agents.append(line)
        name = named_agent(line.value, self._edition)
        if name is not None:
            group.crawler = group.crawler or name
            group.keys.append(key_of(name, self._edition))
        if name == DEFAULT:
            group.default, group.shared_default = line, None

    def _begin(self, line: Line) -> Group:
        above = self.groups[-1] if self.groups else None
        self.group = Group(line)
        if above is not None and not above.rules:
            self.group.above_blank = 0  # most editions read one group
        self.groups.append(self.group)
        return self.group

    def _add_outside(self, line: Line, kind: str) -> None:
        fault = f"No user-agent line is above this {kind}"
        self._findings.add(line, "RS201", fault, "ignores it")


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """The groups that some crawlers follow together."""

    lines: Sequence[Line]
    """Those of their rules."""
    rules: Rules
    """The rules, shared by groups that have the same: indices of lines replace their offsets."""


class Effects:
    """The verdicts of a file, for the crawlers that it names."""

    def __init__(self, file: RobotsFile, groups: Sequence[Group]) -> None:
        self.edition = file.edition
        self.groups = groups
        #: The lines of all rules.
        self.lines = [line for group in groups for line in group.rules]
        self._starts = [line.start for line in self.lines]
        self._index = file.index
        self._by_key: dict[str, Followed | None] = {}
        self._by_spans: dict[Spans, Followed] = {}
        self._by_rules: dict[Sequence[RawRule], Rules] = {}
        self._left = READINGS * len(file.body)
        default = self.followed_by(DEFAULT)
        assert default is not None  # nothing is read before it
        #: The groups for crawlers without one of their own.
        self.default = default

    def follows(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a crawler follows a group with some keys.

        True where names are compared with all others.
        """
        if self.edition.agent_match is AgentMatch.CONTAINED:
            return True
        key = key_of(name, self.edition)
        return not keys.isdisjoint(followed_keys(self._index.places, (key,), self.edition))

    def followed_by(self, name: str | None) -> Followed | None:
        """The groups that a crawler follows; None where no effect is stated.

        That is beyond the bound, and for a crawler that does not follow its own groups.
        *name*: one that the file contains, or ``*``.
        """
        if name is None:
            return None
        key = key_of(name, self.edition)
        if key not in self._by_key:
            self._by_key[key] = self._read(key)
        return self._by_key[key]

    @cached_property
    def combined(self) -> Sequence[tuple[str, Group, Followed]]:
        """The first crawlers that follow each choice of groups, with a group."""
        found: dict[Followed, tuple[str, Group, Followed]] = {}
        for group in self.groups:
            followed = self.followed_by(group.crawler)
            if group.crawler is not None and followed is not None:
                found.setdefault(followed, (group.crawler, group, followed))
        return list(found.values())

    def of_crawler(self, name: str | None) -> Effect:
        """How much of the site a crawler may fetch."""
        followed = self.followed_by(name)
        if name is None or followed is None:
            return _UNKNOWN
        rules = followed.rules
        is_open, path = not forbids(rules.root), rules.exception
        if path is None:
            part = "every page" if is_open else "no page"
            return Effect(f"lets {shown(name)} fetch {part}", (Claim(name, None, is_open),))
        opened, closed = ("/", path) if is_open else (path, "/")
        words = f"lets {shown(name)} fetch {shown(opened)}, not {shown(closed)}"
        return Effect(words, (Claim(name, opened, True), Claim(name, closed, False)))

    def of_path(self, name: str, path: str) -> Effect:
        """Whether a crawler may fetch a path."""
        followed = self.followed_by(name)
        if followed is None:
            return _UNKNOWN
        allows = followed.rules.allows(path)
        lets = "lets" if allows else "does not let"
        words = f"{lets} {shown(name)} fetch {shown(path)}"
        return Effect(words, (Claim(name, path, allows),))

    def _read(self, key: str) -> Followed | None:
        places = self._index.places
        present = (key,) if key in places else ()
        # An edition may ignore names beside *, or read a name otherwise than it compares one.
        if key != DEFAULT and followed_keys(present, (key,), self.edition) != (key,):
            return None
        spans = tuple([self._index.spans[number] for number in numbers_of(places, present)])
        if spans not in self._by_spans and self._left >= 0:
            self._left -= sum(end - begin for begin, end in spans)
            lines = [line for begin, end in spans for line in self._lines_in(begin, end)]
            rules = tuple(
                [(each.field == "allow", each.value, at) for at, each in enumerate(lines)]
            )
            if rules not in self._by_rules:
                self._by_rules[rules] = Rules(rules, self.edition)
            self._by_spans[spans] = Followed(lines, self._by_rules[rules])
        return self._by_spans.get(spans)

    def _lines_in(self, begin: int, end: int) -> Sequence[Line]:
        """The lines of rules between two offsets."""
        return self.lines[bisect_left(self._starts, begin) : bisect_left(self._starts, end)]
