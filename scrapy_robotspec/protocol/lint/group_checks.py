"""Checks of groups and their rules (GRP, UAG, PRE-02)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.lint.agent_checks import read_agent
from scrapy_robotspec.protocol.lint.findings import Remark
from scrapy_robotspec.protocol.lint.rule_checks import check_path, usual_path
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.paths import canonical_text

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
class _Group:
    """The group that is being read."""

    first: Line
    names: list[str] = field(default_factory=list)
    rules: int = 0
    separated: bool = False
    """Whether another line followed the last user-agent line."""
    default: Line | None = None
    """The last user-agent line of ``*``."""
    glued: Line | None = None
    """The user-agent line of ``*``, if a line without a rule and other names follow it."""
    disallows_all: bool = False
    with_path: list[Line] = field(default_factory=list)
    """Rules with a path, of all groups with the same names."""


class GroupReader:
    """Takes lines one by one and tracks their groups."""

    def __init__(self, edition: Edition, findings: Findings) -> None:
        self._edition = edition
        self._findings = findings
        self._group: _Group | None = None
        self._first_named: dict[str, int] = {}
        self._with_path: dict[tuple[str, ...], list[Line]] = {}
        self._closed: list[Line] = []
        """User-agent lines of ``*`` that join a group which disallows everything."""
        self._default_groups = 0
        self._is_usual_path = usual_path(edition).fullmatch
        self.outside: set[int] = set()
        """Numbers of the rules outside of every group."""

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
        if self._edition.blank_line_ends_group:
            self.close()
        else:
            self._separate()

    def read_rule(self, line: Line) -> None:
        """Take the next rule."""
        group = self._group
        if group is None:
            self.outside.add(line.number)
            self._add_outside(line, "rule")
            return
        if not group.rules:
            group.with_path = self._with_path.setdefault(tuple(sorted(group.names)), [])
        group.rules += 1
        if line.value:
            group.disallows_all |= line.field == "disallow" and line.value in _EVERYTHING
            group.with_path.append(line)
            if not self._is_usual_path(line.value):
                self._findings.add(line, check_path(line, self._edition))

    def read_other(self, line: Line) -> None:
        """Take the next valid line that is not a rule."""
        if line.field == "user-agent":
            self._read_agent(line)
        else:
            self._separate()
            if self._group is None and line.field in _GROUP_FIELDS and self._knows(line):
                self._add_outside(line, "line")

    def close(self) -> None:
        """End the group, and check it as a whole."""
        group, self._group = self._group, None
        if group is None:
            return
        name = self._edition.name
        self._default_groups += DEFAULT in group.names
        if group.glued and group.disallows_all:
            self._closed.append(group.glued)
        if not any(group.names):
            self._add(group.first, "RS204", f"The group names no crawler; {name} skips it.")
        elif not group.rules:
            self._add(
                group.first,
                "RS206",
                f"The group has no rules; {name} allows its crawlers everything.",
            )
        if self._edition.whole_agent_names and DEFAULT in group.names and len(group.names) > 1:
            self._add(
                group.first, "RS207", f"The group names * and others; {name} ignores the others."
            )

    def finish(self) -> None:
        """End the file, and compare its rules (PRE-02)."""
        self.close()
        self._add_closed()
        found = [
            each for rules in self._with_path.values() for each in contraries(rules, self._edition)
        ]
        read = f"{self._edition.name} allows the path"
        for line, first, kind in sorted(found, key=lambda each: each.line.number):
            self._add(line, "RS304", f"Line {first} {kind}s the same path; {read}.")

    def _add_closed(self) -> None:
        """Groups that are closed to every crawler by mistake (GRP-01, UAG-05)."""
        code = "RS213" if self._default_groups > 1 else "RS212"
        closed = 'The "Disallow: /" of the next name closes the site to every crawler'
        for line in self._closed:
            self._add(line, code, f"{closed}; {self._edition.name} reads one group.")

    def _knows(self, line: Line) -> bool:
        return self._edition.other_fields or line.field == "content-usage"

    def _add(self, line: Line, code: str, message: str) -> None:
        self._findings.add(line, [Remark(code, message)])

    def _add_outside(self, line: Line, kind: str) -> None:
        message = f"No user-agent line is above this {kind}; {self._edition.name} ignores it."
        self._add(line, "RS201", message)

    def _separate(self) -> None:
        if self._group and not self._group.rules:
            self._group.separated = True

    def _read_agent(self, line: Line) -> None:
        if self._group and self._group.rules:
            self.close()
        if self._group is None:
            self._group = _Group(line)
        elif self._group.separated:
            message = (
                "No rule stands between this user-agent line and the last; "
                f"{self._edition.name} reads one group."
            )
            self._add(line, "RS208", message)
            self._group.separated = False
            if DEFAULT in self._group.names and self._group.glued is None:
                self._group.glued = self._group.default
        key, remarks = read_agent(line.value, self._edition)
        if remarks:
            self._findings.add(line, remarks)
        if key is not None:
            self._read_name(key, line, self._group)

    def _read_name(self, key: str, line: Line, group: _Group) -> None:
        group.names.append(key)
        if key == DEFAULT:
            group.default, group.glued = line, None
        first = self._first_named.setdefault(key, group.first.number)
        if key and first != group.first.number:
            self._add(
                line,
                "RS205",
                f"The group at line {first} names it too; {self._edition.name} follows both.",
            )


class Contrary(NamedTuple):
    """A rule, and an earlier one that it contradicts."""

    line: Line
    first: int
    """Number of the first rule that says the contrary."""
    kind: str
    """The kind of that rule."""


def contraries(rules: Sequence[Line], edition: Edition) -> Iterator[Contrary]:
    """The contradictions among rules for the same crawlers, in their order."""
    allowing = sum(line.field == "allow" for line in rules)
    if not 0 < allowing < len(rules):  # hot path
        return
    places: dict[tuple[str, str], int] = {}
    for line, path in zip(rules, _comparable([line.value for line in rules], edition), strict=True):
        places.setdefault((line.field, path), line.number)
        contrary = "disallow" if line.field == "allow" else "allow"
        if first := places.get((contrary, path)):
            yield Contrary(line, first, contrary)


def _comparable(values: Sequence[bytes], edition: Edition) -> list[str]:
    """Paths as they are matched, so that their spellings are equal."""
    paths = canonical_text(b"\n".join(values), edition).split("\n")
    if edition.slashless is Slashless.ASSUMED:
        paths = [path if path.startswith("/") else "/" + path for path in paths]
    if edition.wildcards and not edition.count_trailing_star:
        paths = [path.rstrip("*") for path in paths]
    return paths
