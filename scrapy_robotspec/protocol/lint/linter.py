"""The linter: reads a file line by line and collects findings.

Time is linear in the file, apart from sorting paths, and the number of findings is bounded,
whatever the file contains (SAF-02). No verdict depends on this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.file_kind import FileKind, foreign_kind
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.protocol.lint.file_checks import (
    check_allow,
    check_directories,
    check_disallowed,
)
from scrapy_robotspec.protocol.lint.findings import Findings
from scrapy_robotspec.protocol.lint.group_checks import GroupReader, check_groups
from scrapy_robotspec.protocol.lint.line_checks import check_form, check_other
from scrapy_robotspec.protocol.lint.redundancy import find_redundant, reads_alike
from scrapy_robotspec.protocol.lint.usage_checks import (
    check_hidden,
    check_statement,
    read_statement,
)

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.lint.usage_checks import Statement
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

_CODES = {
    FileKind.HTML: "RS152",
    FileKind.XML: "RS152",
    FileKind.UTF16: "RS153",
    FileKind.UTF32: "RS153",
    FileKind.BINARY: "RS154",
    FileKind.JSON: "RS155",
    FileKind.TEXT: "RS156",
}


def lint(robots: RobotsTxt) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    A file that is not a robots.txt file has one finding. No content raises (SAF-01).
    """
    findings = Findings(robots.edition.name)
    kind = foreign_kind(robots.body)
    if kind is not None:
        code = _CODES[kind]
        findings.add(None, code, CODES[code].message.removesuffix("."), "reads no rule in it")
        return findings.sorted()
    if robots.truncated:
        effect = f"reads its first {len(robots.body)} bytes"
        findings.add(None, "RS151", "The file is too long", effect)
        fault = "Directories need fewer rules than pages"
        findings.add(None, "RS904", fault, "ignores the rest")
    _Reader(robots, findings).read_all()
    return findings.sorted()


class _Reader:
    """Passes each line to the checks."""

    def __init__(self, robots: RobotsTxt, findings: Findings) -> None:
        self._robots = robots
        self._edition = robots.edition
        self._findings = findings
        self._groups = GroupReader(robots.edition, findings)
        self._rules: list[Line] = []
        """Rules with a path."""
        self._statements: dict[tuple[str, ...], list[Statement]] = {}
        """Usage statements by the crawlers that they apply to."""
        self._alike = True
        """Whether every edition reads all lines up to here alike."""

    def read_all(self) -> None:
        edition, findings, truncated = self._edition, self._findings, self._robots.truncated
        for line in read_lines(self._robots.body, edition):
            check_form(line, edition, findings, may_replace=not truncated)
            self._alike = self._alike and reads_alike(line)
            self._read(line)
        check_groups(self._groups.groups, edition, findings)
        check_directories(self._rules, findings)
        if self._alike and not truncated:  # else a later line would be read without one of these
            self._check_redundant()
            check_allow(self._rules, findings)
        for statements in self._statements.values():
            check_hidden(statements, findings)
        if self._statements:
            check_disallowed(self._rules, self._statements, self._robots, findings)

    def _read(self, line: Line) -> None:
        if line.field == "disallow" or line.field == "allow":
            self._groups.read_rule(line)
            if line.value:
                self._rules.append(line)
        elif line.field == "user-agent":
            self._groups.read_agent(line)
        elif line.field:
            self._groups.read_other(line)
            if line.field in ("content-usage", "content-signal"):
                self._read_statement(line)
            else:
                check_other(line, self._edition, self._findings)
        elif not line.text.strip(self._edition.whitespace):
            self._groups.read_blank()

    def _read_statement(self, line: Line) -> None:
        statement = read_statement(line)
        check_statement(statement, self._findings)
        if crawlers := self._groups.crawlers:
            self._statements.setdefault(crawlers, []).append(statement)

    def _check_redundant(self) -> None:
        """Rules that have no effect in any edition."""
        for line, first in find_redundant(self._groups.groups):
            if first:
                fault = f"Line {first} holds the same rule"
                self._findings.add(line, "RS303", fault, "does not need this one", "")
            else:
                fault = "A rule without a path has no effect here"
                self._findings.add(line, "RS307", fault, "ignores it", "")
