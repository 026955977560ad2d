"""A second reader of a file's lines: what a person should know about them.

It walks the lines once, keeps account of the groups, and collects findings; checks that need no
more than one line stand in ``line_checks.py``. Time is linear in the file, and the number of
findings is bounded, whatever the file holds (SAF-02).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, read_lines
from scrapy_robotspec.protocol.lint.codes import LISTED, LISTED_ONCE, severity
from scrapy_robotspec.protocol.lint.line_checks import (
    check_agent,
    check_field,
    check_form,
    check_octets,
    check_other,
    check_path,
)
from scrapy_robotspec.protocol.models import DEFAULT, Finding, decode
from scrapy_robotspec.protocol.paths import canonical_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.line_checks import Remark
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HTML_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")
_LOOKED_AT = 1000  #: octets within which an HTML page has to begin
_RULES = ("allow", "disallow")

#: The line that first held a path, by kind of rule and path.
_Places = dict[tuple[str, str], int]


def lint(robots: RobotsTxt) -> tuple[Finding, ...]:
    """What a person should know about a file, in the order of its lines.

    Findings about the whole file have line 0. No content makes it raise (SAF-01).
    """
    findings = _Findings()
    reader = _Reader(robots.edition, findings)
    if robots.body.startswith(_UTF16_MARKS):
        findings.add(
            0, "RS153", f"Write the file in UTF-8; {robots.edition.name} finds no line in it."
        )
        return findings.listed()
    start = robots.body[:_LOOKED_AT].removeprefix(BYTE_ORDER_MARK).lstrip()
    is_html = start.lower().startswith(_HTML_STARTS)
    if robots.truncated:
        _say_truncated(robots, findings)
    if is_html:
        findings.add(
            0, "RS152", f"This is an HTML page; {robots.edition.name} reads valid lines only."
        )
    for line in read_lines(robots.body, robots.edition):
        reader.read(line, is_html)
    reader.close_group()
    return findings.listed()


def _say_truncated(robots: RobotsTxt, findings: _Findings) -> None:
    limit = len(robots.body)
    name = robots.edition.name
    findings.add(0, "RS151", f"The file is too long; {name} reads its first {limit} octets.")
    findings.add(
        0,
        "RS904",
        f"Give what is excluded directories of its own, to need fewer rules; {name} reads no more.",
    )


class _Findings:
    """Collects findings, at most so many of each code."""

    def __init__(self) -> None:
        self._listed: list[Finding] = []
        self._counts: dict[str, int] = {}

    def add(self, line: int, code: str, message: str, text: bytes = b"") -> None:
        count = self._counts[code] = self._counts.get(code, 0) + 1
        if count <= _most(code):
            self._listed.append(Finding(line, code, message, decode(text), severity(code)))

    def about(self, line: Line, remarks: Iterable[Remark]) -> None:
        for code, message in remarks:
            self.add(line.number, code, message, line.text)

    def listed(self) -> tuple[Finding, ...]:
        rest = ((code, count - _most(code)) for code, count in self._counts.items())
        more = [
            Finding(
                0,
                code,
                f"Lines with this finding that are not listed: {count}.",
                "",
                severity(code),
            )
            for code, count in rest
            if count > 0
        ]
        return tuple(
            sorted([*self._listed, *more], key=lambda finding: (finding.line, finding.code))
        )


def _most(code: str) -> int:
    return 1 if code in LISTED_ONCE else LISTED


@dataclass(slots=True)
class _Group:
    """The group that is being read."""

    first: Line
    names: list[str] = field(default_factory=list)
    rules: int = 0
    empty_rules: list[Line] = field(default_factory=list)
    blank_line: bool = False
    """Whether a blank line followed the last user-agent line."""
    places: _Places = field(default_factory=dict)


class _Reader:
    """Walks the lines of a file and keeps account of its groups."""

    def __init__(self, edition: Edition, findings: _Findings) -> None:
        self._edition = edition
        self._findings = findings
        self._group: _Group | None = None
        self._first_named: dict[str, int] = {}
        self._places: dict[tuple[str, ...], _Places] = {}

    def read(self, line: Line, is_html: bool) -> None:
        """Take the next line."""
        if not line.text:
            self._read_blank(line)
            return
        self._findings.about(line, check_octets(line, self._edition))
        if not is_html or line.name:
            self._findings.about(line, check_form(line, self._edition))
        if not line.name:
            if not line.text.strip(self._edition.whitespace):
                self._read_blank(line)
            return
        self._findings.about(line, check_field(line, self._edition))
        if line.field == "user-agent":
            self._read_agent(line)
        elif line.field in _RULES:
            self._read_rule(line)
        else:
            self._findings.about(line, check_other(line, self._edition))

    def close_group(self) -> None:
        """Say what can only be said once all lines of a group are known."""
        group, self._group = self._group, None
        if group is None:
            return
        name = self._edition.name
        if not any(group.names):
            self._say(group.first, "RS204", f"No crawler can follow this group; {name} skips it.")
        elif not group.rules:
            self._say(
                group.first,
                "RS206",
                f"The group has no rules; {name} allows its crawlers everything.",
            )
        if group.rules > 1:
            for line in group.empty_rules:
                self._say(
                    line, "RS307", f"A rule without a path changes nothing; {name} ignores it."
                )
        if self._edition.whole_agent_names and DEFAULT in group.names and len(group.names) > 1:
            self._say(
                group.first, "RS207", f"Beside the star no other name counts; {name} ignores them."
            )

    def _say(self, line: Line, code: str, message: str) -> None:
        self._findings.add(line.number, code, message, line.text)

    def _read_blank(self, line: Line) -> None:
        if self._edition.blank_line_ends_group:
            self.close_group()
        elif self._group and not self._group.rules:
            self._group.blank_line = True

    def _read_agent(self, line: Line) -> None:
        if self._group and self._group.rules:
            self.close_group()
        if self._group is None:
            self._group = _Group(line)
        elif self._group.blank_line:
            self._say(
                line,
                "RS208",
                f"A blank line parts this name from the last; {self._edition.name} sees one group.",
            )
            self._group.blank_line = False
        self._findings.about(line, check_agent(line, self._edition))
        agent = named_agent(line.value, self._edition)
        if agent is not None:
            self._name(agent, line, self._group)

    def _name(self, agent: str, line: Line, group: _Group) -> None:
        key = key_of(agent, self._edition)
        group.names.append(key)
        if not key:
            return
        first = self._first_named.setdefault(key, group.first.number)
        if first != group.first.number:
            self._say(
                line,
                "RS205",
                f"The group at line {first} names it too; {self._edition.name} joins their rules.",
            )

    def _read_rule(self, line: Line) -> None:
        group = self._group
        if group is None:
            read = f"{self._edition.name} ignores the rule"
            self._say(line, "RS201", f"No user-agent line governs this rule; {read}.")
            return
        if not group.rules:
            group.places = self._places.setdefault(tuple(sorted(group.names)), {})
        group.rules += 1
        if not line.value:
            group.empty_rules.append(line)  # alone, it is how everything is allowed (RUL-02)
            return
        if line.field == "allow":
            self._findings.about(line, [("RS902", self._advice_on_allow())])
        self._findings.about(line, check_path(line, self._edition))
        self._compare(line, group.places)

    def _advice_on_allow(self) -> str:
        return f"Older crawlers know Disallow only, so prefer it; {self._edition.name} obeys both."

    def _compare(self, line: Line, places: _Places) -> None:
        """Whether the path has been ruled on before (PRE-02)."""
        path = self._comparable(line.value)
        name = self._edition.name
        first = places.setdefault((line.field, path), line.number)
        if first != line.number:
            self._say(
                line,
                "RS303",
                f"Line {first} says the same; {name} needs one of the two lines only.",
            )
        other = places.get(("disallow" if line.field == "allow" else "allow", path))
        if other:
            self._say(line, "RS304", f"Line {other} says the contrary; {name} allows the path.")

    def _comparable(self, value: bytes) -> str:
        """A path as it is matched, so that two spellings of one path are seen to be one."""
        edition = self._edition
        path = canonical_text(value, edition)
        if edition.slashless is Slashless.ASSUMED and not path.startswith("/"):
            path = "/" + path
        if edition.wildcards and not edition.count_trailing_star:
            path = path.rstrip("*")
        return path
