"""The linter: reads a file line by line and collects findings.

Time is linear in the file, apart from sorting paths, and the number of findings is bounded,
whatever the file contains (SAF-02). No verdict depends on this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.file_kind import FileKind, meant_kind
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.lint.file_checks import FileReader
from scrapy_robotspec.protocol.lint.findings import Findings, Remark
from scrapy_robotspec.protocol.lint.group_checks import GroupReader
from scrapy_robotspec.protocol.lint.line_checks import check_form, check_other, is_usual
from scrapy_robotspec.protocol.lint.redundancy import RedundancyFinder
from scrapy_robotspec.protocol.lint.usage_checks import check_statement, read_statement

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Finding
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
_MESSAGES = {
    "RS152": "The file is an HTML or XML page",
    "RS153": "The file is written in UTF-16, not in UTF-8",
    "RS154": "The file contains binary data",
    "RS155": "The file contains JSON",
    "RS156": "No line is one of a robots.txt file",
}


def lint(robots: RobotsTxt) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    A file that is not a robots.txt file has one finding. No content raises (SAF-01).
    """
    findings = Findings()
    kind = _other_kind(robots)
    if kind is not None:
        findings.add_for_file(kind)
        return findings.sorted()
    if robots.truncated:
        _add_truncated(robots, findings)
    _Reader(robots, findings).read_all()
    return findings.sorted()


def _other_kind(robots: RobotsTxt) -> Remark | None:
    """The remark about a file of another kind, or None."""
    kind = meant_kind(robots.body)
    if kind is None:
        return None
    read = f"{robots.edition.name} finds no valid line in it"
    if kind in (FileKind.HTML, FileKind.XML):
        read = _rules_read(robots)
    code = _CODES[kind]
    return Remark(code, f"{_MESSAGES[code]}; {read}.")


def _rules_read(robots: RobotsTxt) -> str:
    count = 0
    body = robots.body.lower()
    spellings = robots.edition.known_fields
    if any(spelling in body for spelling, field in spellings if field == "user-agent"):
        count = sum(len(group.rules) for group in robots.groups)
    rules = "no rule" if not count else f"{count} rule{'s' if count > 1 else ''}"
    return f"{robots.edition.name} reads {rules} of it"


def _add_truncated(robots: RobotsTxt, findings: Findings) -> None:
    name = robots.edition.name
    findings.add_for_file(
        Remark("RS151", f"The file is too long; {name} reads its first {len(robots.body)} bytes.")
    )
    findings.add_for_file(
        Remark("RS904", f"Directories need fewer rules than pages; {name} ignores the rest.")
    )


class _Reader:
    """Passes each line to the checks."""

    def __init__(self, robots: RobotsTxt, findings: Findings) -> None:
        self._robots = robots
        self._edition = robots.edition
        self._findings = findings
        self._redundancy = RedundancyFinder()
        self._groups = GroupReader(robots.edition, findings)
        self._file = FileReader(robots, findings)

    def read_all(self) -> None:
        is_preset = EDITIONS.get(self._edition.name) == self._edition
        above: bytes | None = None
        for line in read_lines(self._robots.body, self._edition):
            if above == line.text == b"":  # hot path of a file of empty lines
                continue
            above = line.text
            if line.number == 1 or not (is_preset and is_usual(line.text)):
                remarks = check_form(line, self._edition, may_replace=not self._robots.truncated)
                self._findings.add(line, remarks)
                self._redundancy.compare_editions(line)
            self._read(line)
        self._groups.finish()
        if self._robots.truncated:  # without one of the lines, a later one would be read
            self._file.close(may_replace=False)
        else:
            self._add_redundant()
            self._file.close(may_replace=self._redundancy.alike)

    def _read(self, line: Line) -> None:
        if line.field == "disallow" or line.field == "allow":
            self._redundancy.read_rule(line)
            self._groups.read_rule(line)
            self._file.read_rule(line)
        elif line.field:
            self._read_other(line)
        elif not line.text.strip(self._edition.whitespace):
            self._groups.read_blank()
            self._redundancy.read_blank()

    def _read_other(self, line: Line) -> None:
        """Read a valid line that is not a rule."""
        self._groups.read_other(line)
        if line.field == "user-agent":
            self._redundancy.read_agent(line)
        elif line.field in ("content-usage", "content-signal"):
            statement = read_statement(line)
            self._findings.add(line, check_statement(statement, self._edition.name))
            self._file.read_statement(statement, self._groups.crawlers)
        else:
            self._findings.add(line, check_other(line, self._edition))

    def _add_redundant(self) -> None:
        """Rules that have no effect in any edition."""
        name = self._edition.name
        for line, first in self._redundancy.finish():
            if line.number in self._groups.outside:
                continue
            if first is None:
                message = f"A rule without a path has no effect here; {name} ignores it."
                self._findings.add(line, [Remark("RS307", message, "")])
            else:
                message = f"Line {first} holds the same rule; {name} does not need this one."
                self._findings.add(line, [Remark("RS303", message, "")])
