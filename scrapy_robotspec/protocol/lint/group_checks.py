"""Checks of groups and their rules (GRP, UAG, PRE-02)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import key_of
from scrapy_robotspec.protocol.lint.agent_checks import check_agent
from scrapy_robotspec.protocol.lint.rule_checks import check_path
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.patterns import canonical_pattern
from scrapy_robotspec.protocol.precedence import canonical_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Findings

#: Fields of lines that hold for the crawlers named above them, rules aside.
_GROUP_FIELDS = frozenset({"crawl-delay", "request-rate", "visit-time", "content-usage"})

#: Paths that match every URL.
_EVERYTHING = (b"/", b"/*", b"*")
#: Most names of groups that are compared with one another.
_MOST_NAMES = 20


@dataclass(slots=True)
class Group:
    """A group as the edition reads it."""

    first: Line
    names: list[str] = field(default_factory=list)
    """Keys of the crawlers that its lines name."""
    values: list[bytes] = field(default_factory=list)
    """The user-agent lines' values."""
    rules: list[Line] = field(default_factory=list)
    unbroken: int | None = None
    """Number of rules above its first blank line; None: it has no blank line."""
    separated: bool = False
    """Whether another line followed the last user-agent line."""
    default: Line | None = None
    """The last user-agent line of ``*``."""
    glued: Line | None = None
    """The user-agent line of ``*``, if a line without a rule and other names follow it."""


class GroupReader:
    """Takes lines one by one and tracks their groups."""

    def __init__(self, edition: Edition, findings: Findings) -> None:
        self._edition = edition
        self._findings = findings
        self._group: Group | None = None
        self._first_named: dict[str, int] = {}
        self.groups: list[Group] = []

    @property
    def crawlers(self) -> tuple[str, ...]:
        """The crawlers that a line here applies to.

        A group with many names equals no other one: its line number is appended.
        """
        if self._group is None:
            return ()
        names = self._group.names
        if len(names) > _MOST_NAMES:
            return (*names[:_MOST_NAMES], str(self._group.first.number))
        return tuple(sorted(set(names), reverse=True))

    def read_blank(self) -> None:
        """Take a blank line."""
        group = self._group
        if group is None:
            return
        if group.unbroken is None:
            group.unbroken = len(group.rules)
        group.separated = not group.rules
        if self._edition.blank_line_ends_group:
            self._group = None

    def read_rule(self, line: Line) -> None:
        """Take the next rule."""
        if self._group is None:
            self._add_outside(line, "rule")
        else:
            self._group.rules.append(line)
            check_path(line, self._edition, self._findings)

    def read_other(self, line: Line) -> None:
        """Take the next line with another field."""
        if self._group is not None:
            self._group.separated = not self._group.rules
        elif line.field in _GROUP_FIELDS and (
            self._edition.other_fields or line.field == "content-usage"
        ):
            self._add_outside(line, "line")

    def read_agent(self, line: Line) -> None:
        """Take the next user-agent line."""
        group = self._group
        if group is None or group.rules:
            group = self._begin(line)
        elif group.separated:
            self._findings.add(
                line,
                "RS208",
                "No rule stands between this user-agent line and the last",
                "reads one group",
            )
            group.separated = False
            group.glued = group.glued or group.default
        group.values.append(line.value)
        name = check_agent(line, self._edition, self._findings)
        if name is not None:
            self._read_name(key_of(name, self._edition), line, group)

    def _begin(self, line: Line) -> Group:
        above = self.groups[-1] if self.groups else None
        self._group = Group(line)
        if above is not None and not above.rules:
            self._group.unbroken = 0  # most editions read one group
        self.groups.append(self._group)
        return self._group

    def _read_name(self, key: str, line: Line, group: Group) -> None:
        group.names.append(key)
        if key == DEFAULT:
            group.default, group.glued = line, None
        first = self._first_named.setdefault(key, group.first.number)
        if key and first != group.first.number:
            self._findings.add(
                line, "RS205", f"The group at line {first} names it too", "follows both"
            )

    def _add_outside(self, line: Line, kind: str) -> None:
        fault = f"No user-agent line is above this {kind}"
        self._findings.add(line, "RS201", fault, "ignores it")


def check_groups(groups: Sequence[Group], edition: Edition, findings: Findings) -> None:
    """Check groups as a whole."""
    for group in groups:
        if not any(group.names):
            findings.add(group.first, "RS204", "The group names no crawler", "skips it")
        elif not group.rules:
            effect = "allows its crawlers everything"
            findings.add(group.first, "RS206", "The group has no rules", effect)
        if edition.whole_agent_names and group.default and len(group.names) > 1:
            fault = "The group names * and others"
            findings.add(group.first, "RS207", fault, "ignores the others")
    _check_closed(groups, findings)
    _check_contraries(groups, edition, findings)


def _check_closed(groups: Sequence[Group], findings: Findings) -> None:
    """Groups that are closed to every crawler by mistake (GRP-01, UAG-05)."""
    has_more = sum(group.default is not None for group in groups) > 1
    for group in groups:
        closes = (each.field == "disallow" and each.value in _EVERYTHING for each in group.rules)
        if group.glued is not None and any(closes):
            fault = 'The "Disallow: /" of the next name closes the site to every crawler'
            findings.add(group.glued, "RS213" if has_more else "RS212", fault, "reads one group")


def _check_contraries(groups: Sequence[Group], edition: Edition, findings: Findings) -> None:
    """Rules for the same crawlers that contradict one another (PRE-02)."""
    rules: dict[tuple[str, ...], list[Line]] = {}
    for group in groups:
        with_path = [rule for rule in group.rules if rule.value]
        rules.setdefault(tuple(sorted(group.names)), []).extend(with_path)
    found = [each for some in rules.values() for each in _contraries(some, edition)]
    for line, first, kind in sorted(found):
        fault = f"Line {first} {kind}s the same path"
        findings.add(line, "RS304", fault, "allows the path")


def _contraries(rules: Sequence[Line], edition: Edition) -> Iterator[tuple[Line, int, str]]:
    """Rules with the number and the kind of the first one that they contradict."""
    allowing = sum(line.field == "allow" for line in rules)
    if not 0 < allowing < len(rules):  # hot path
        return
    places: dict[tuple[str, object], int] = {}
    paths = canonical_all([line.value for line in rules], edition)
    for line, path in zip(rules, paths, strict=True):
        pattern = canonical_pattern(path, edition) or path  # a path that never matches
        places.setdefault((line.field, pattern), line.number)
        contrary = "disallow" if line.field == "allow" else "allow"
        if first := places.get((contrary, pattern)):
            yield line, first, contrary
