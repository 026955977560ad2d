"""The linter: reads a file line by line and collects findings.

Time and findings are linear in the file, apart from sorting paths, whatever it contains (SAF-02).
No verdict depends on this package.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.file_kind import foreign_kind
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.lint.effects import Effects
from scrapy_robotspec.protocol.lint.findings import CODES, Findings, read_data
from scrapy_robotspec.protocol.lint.group_checks import (
    check_allow,
    check_closed,
    check_directories,
    check_disallowed,
    check_groups,
    check_sitemaps,
    find_redundant,
    reads_alike,
)
from scrapy_robotspec.protocol.lint.group_reader import GroupReader
from scrapy_robotspec.protocol.lint.line_checks import (
    check_agents,
    check_colon,
    check_form,
    check_other,
    check_rules,
    is_plain,
)
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
    from scrapy_robotspec.protocol.robots_file import RobotsFile

#: The codes of files of another kind, by its name.
_FILES = read_data("patterns.json")["files"]


def lint(
    file: RobotsFile, expected: Expected | None = None, *, is_cut: bool = False
) -> tuple[Finding, ...]:
    """The findings about a file, in file order.

    ``expected``: whether the site has to be open or closed to crawlers without a group of their
    own; the contrary is an error. ``is_cut``: whether the file is longer than the part that is
    read. A file that is not a robots.txt file has one finding besides. No content raises (SAF-01).
    """
    findings = Findings(file.edition)
    reader = _Reader(findings)
    if kind := foreign_kind(file.body):
        code = _FILES[kind.name]
        findings.add(None, code, CODES[code].message.removesuffix("."), "reads no rule in it")
    else:
        reader.read(file.body, is_cut=is_cut)
    effects = Effects(file, reader.groups)
    reader.check(effects, is_cut=is_cut)
    check_closed(effects, findings, expected)
    return findings.sorted()


class _Reader:
    """Reads the lines of a file, and checks each of them, and what they form."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._edition = findings.edition
        self._reader = GroupReader(findings)
        self.groups: Sequence[Group] = self._reader.groups
        self._sitemaps: list[Line] = []
        self._statements: dict[tuple[str, ...], list[Statement]] = {}
        """Usage statements by the crawlers that they apply to."""
        self._alike = True
        """Whether every edition reads all lines up to here alike."""

    def read(self, body: bytes, *, is_cut: bool) -> None:
        """Check line by line."""
        findings = self._findings
        if is_cut:
            effect = f"reads its first {len(body)} bytes"
            findings.add(None, "RS151", "The file is too long", effect)
            fault = "Directories need fewer rules than pages"
            findings.add(None, "RS904", fault, "ignores the rest")
        forms: dict[tuple[bytes, bool], list[Any]] = {}
        for line in read_lines(body, self._edition, every=True):
            check_colon(line, findings, may_replace=not is_cut)
            if not is_plain(line):  # equal lines have equal faults
                key = (line.text, line.number == 1)
                if key not in forms:
                    forms[key] = [fault[1:] for fault in check_form(line, self._edition)]
                findings.add_all((line, *fault) for fault in forms[key])
            self._alike = self._alike and reads_alike(line)
            self._read(line)

    def check(self, effects: Effects, *, is_cut: bool) -> None:
        """Check what the lines form."""
        groups, findings, edition = self.groups, self._findings, self._edition
        rules = [line for group in groups for line in group.rules if line.value]
        faults = chain(
            check_rules(groups, effects, edition),
            check_agents(groups, effects, edition),
            check_groups(groups, effects, edition),
            check_directories(rules),
            check_sitemaps(self._sitemaps, effects),
            check_hidden(self._statements),
            check_disallowed(rules, self._statements, effects),
        )
        findings.add_all(faults)
        if self._alike and not is_cut:  # else a later line would be read without one of these
            for fault in find_redundant(groups):
                findings.add(*fault, replacement="")
            check_allow(effects, findings)

    def _read(self, line: Line) -> None:
        if line.field == "disallow" or line.field == "allow":
            self._reader.read_rule(line)
        elif line.field == "user-agent":
            self._reader.read_agent(line)
        elif line.field:
            self._reader.read_other(line)
            self._findings.add_all(check_other(line, self._edition))
            if line.field in ("content-usage", "content-signal"):
                self._read_statement(line)
            elif line.field == "sitemap" and self._edition.other_fields:
                self._sitemaps.append(line)
        elif not line.text.strip(self._edition.whitespace):
            self._reader.read_blank()

    def _read_statement(self, line: Line) -> None:
        statement = read_statement(line)
        self._findings.add_all(check_statement(statement))
        if crawlers := self._reader.crawlers(statement.field):
            self._statements.setdefault(crawlers, []).append(statement)
