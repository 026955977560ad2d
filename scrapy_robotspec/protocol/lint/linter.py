"""The linter: reads a file line by line and collects findings.

Time and findings are linear in the file, apart from sorting paths, whatever it contains (SAF-02).
No verdict depends on this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.file_kind import FileKind, foreign_kind
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.lint.agent_checks import check_agents
from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.protocol.lint.effects import Effects
from scrapy_robotspec.protocol.lint.findings import Findings
from scrapy_robotspec.protocol.lint.group_checks import (
    check_allow,
    check_closed,
    check_directories,
    check_disallowed,
    check_groups,
    check_sitemaps,
)
from scrapy_robotspec.protocol.lint.group_reader import GroupReader
from scrapy_robotspec.protocol.lint.line_checks import check_form, check_other
from scrapy_robotspec.protocol.lint.redundancy import find_redundant, reads_alike
from scrapy_robotspec.protocol.lint.rule_checks import check_rules
from scrapy_robotspec.protocol.lint.usage_checks import (
    check_hidden,
    check_statement,
    read_statement,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.lint.group_checks import Expected
    from scrapy_robotspec.protocol.lint.group_reader import Group
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


def lint(robots: RobotsTxt, expected: Expected | None = None) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    ``expected``: whether the site has to be open or closed to crawlers without a group of their
    own; the contrary is an error. A file that is not a robots.txt file has one finding besides.
    No content raises (SAF-01).
    """
    findings = Findings(robots.edition)
    reader = _Reader(findings)
    kind = foreign_kind(robots.body)
    if kind is None:
        reader.read(robots)
    else:
        fault = CODES[_CODES[kind]].message.removesuffix(".")
        findings.add(None, _CODES[kind], fault, "reads no rule in it")
    effects = Effects(robots, reader.groups)
    reader.check(effects, is_cut=robots.truncated)
    check_closed(effects, findings, expected)
    return findings.sorted()


class _Reader:
    """Reads the lines of a file, and checks each of them, and what they form."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._reader = GroupReader(findings)
        self.groups: Sequence[Group] = self._reader.groups
        self._sitemaps: list[Line] = []
        self._statements: dict[tuple[str, ...], list[Statement]] = {}
        """Usage statements by the crawlers that they apply to."""
        self._alike = True
        """Whether every edition reads all lines up to here alike."""

    def read(self, robots: RobotsTxt) -> None:
        """Check line by line."""
        findings = self._findings
        if robots.truncated:
            effect = f"reads its first {len(robots.body)} bytes"
            findings.add(None, "RS151", "The file is too long", effect)
            fault = "Directories need fewer rules than pages"
            findings.add(None, "RS904", fault, "ignores the rest")
        for line in read_lines(robots.body, robots.edition):
            check_form(line, findings, may_replace=not robots.truncated)
            self._alike = self._alike and reads_alike(line)
            self._read(line)

    def check(self, effects: Effects, *, is_cut: bool) -> None:
        """Check what the lines form."""
        groups, findings = self.groups, self._findings
        rules = [line for group in groups for line in group.rules if line.value]
        for group in groups:
            check_rules(group, effects, findings)
        check_agents(groups, effects, findings)
        check_groups(groups, effects, findings)
        check_directories(rules, findings)
        check_sitemaps(self._sitemaps, effects, findings)
        if self._alike and not is_cut:  # else a later line would be read without one of these
            self._check_redundant()
            check_allow(effects, findings)
        check_hidden(self._statements, findings)
        check_disallowed(rules, self._statements, effects, findings)

    def _read(self, line: Line) -> None:
        if line.field == "disallow" or line.field == "allow":
            self._reader.read_rule(line)
        elif line.field == "user-agent":
            self._reader.read_agent(line)
        elif line.field:
            self._reader.read_other(line)
            if line.field in ("content-usage", "content-signal"):
                self._read_statement(line)
            else:
                check_other(line, self._findings)
            if line.field == "sitemap" and self._findings.edition.other_fields:
                self._sitemaps.append(line)
        elif not line.text.strip(self._findings.edition.whitespace):
            self._reader.read_blank()

    def _read_statement(self, line: Line) -> None:
        statement = read_statement(line)
        check_statement(statement, self._findings)
        if crawlers := self._reader.crawlers(statement.field):
            self._statements.setdefault(crawlers, []).append(statement)

    def _check_redundant(self) -> None:
        """Rules that have no effect in any edition."""
        for line, first in find_redundant(self.groups):
            if first:
                fault = f"Line {first} holds the same rule"
                self._findings.add(line, "RS303", fault, "does not need this one", "")
            else:
                fault = "A rule without a path has no effect here"
                self._findings.add(line, "RS307", fault, "ignores it", "")
