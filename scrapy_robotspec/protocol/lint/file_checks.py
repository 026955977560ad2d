"""Checks of a whole file: nested paths, usage of disallowed pages."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lint.findings import Remark, shown
from scrapy_robotspec.protocol.lint.usage_checks import hidden_statements

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Findings
    from scrapy_robotspec.protocol.lint.usage_checks import Statement
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: A path without wildcards whose last name may be that of a directory.
_DIRECTORIES = re.compile(rb"^/(?:[^*$?\n]*/)?[^*$?/.=&\n]+$", re.MULTILINE)
_WILDCARD = re.compile(rb"[*$]")
#: Max usage statements whose path is checked against the rules; each may read the file again.
_MOST_ASKED = 20


class FileReader:
    """Collects rules and usage statements, then checks them together."""

    def __init__(self, robots: RobotsTxt, findings: Findings) -> None:
        self._robots = robots
        self._findings = findings
        self._name = robots.edition.name
        self._rules: list[Line] = []
        """Rules with a path."""
        self._statements: dict[tuple[str, ...], list[Statement]] = {}

    @property
    def _disallows(self) -> bool:
        return any(line.field == "disallow" for line in self._rules)

    def read_rule(self, line: Line) -> None:
        """Take the next rule."""
        if line.value:
            self._rules.append(line)

    def read_statement(self, statement: Statement, crawlers: tuple[str, ...]) -> None:
        """Take a usage statement, with the crawlers that it holds for."""
        if crawlers:
            self._statements.setdefault(crawlers, []).append(statement)

    def close(self, *, may_replace: bool) -> None:
        """Check the lines together.

        ``may_replace`` is true where every edition reads all lines of the file alike.
        """
        self._check_directories()
        if may_replace:
            self._check_allow()
        for statements in self._statements.values():
            self._check_hidden(statements)
        self._check_disallowed()

    def _check_directories(self) -> None:
        """Directories without a slash at the end, as other paths inside them show (EXT-04)."""
        first_lines = {line.value: line for line in reversed(self._rules)}
        paths = sorted(first_lines)
        directories = _DIRECTORIES.findall(b"\n".join(paths))
        inside = [path for path in directories if _any_begins(paths, path + b"/")]
        for line in sorted(map(first_lines.__getitem__, inside)):
            longer = shown(line.value.rpartition(b"/")[2] + b".html")
            message = f"The path also matches {longer}; {self._name} compares beginnings."
            self._findings.add(line, [Remark("RS901", message)])

    def _check_allow(self) -> None:
        """Allow rules in a file that disallows nothing (EXT-04)."""
        if not self._rules or self._disallows:
            return
        message = f"Nothing is disallowed, so Allow has no effect; {self._name} allows everything."
        self._findings.add(self._rules[0], [Remark("RS902", message, "Disallow:")])

    def _check_hidden(self, statements: list[Statement]) -> None:
        """Usage preferences that a longer path hides (USE-01)."""
        for line, label, number in hidden_statements(statements):
            message = (
                f"The longer path hides {shown(label)} of line {number}; "
                f"{self._name} reads the longest path only."
            )
            self._findings.add(line, [Remark("RS505", message)])

    def _check_disallowed(self) -> None:
        """Usage statements about pages that are disallowed (USE-03)."""
        if not self._statements:
            return
        allowed = sorted(line.value for line in self._rules if line.field == "allow")
        if not self._disallows or any(b"*" in path for path in allowed):
            return
        candidates = (
            (crawlers[0], statement)
            for crawlers, statements in self._statements.items()
            for statement in statements
            if crawlers[0]
            and not _WILDCARD.search(statement.path)
            and not _any_begins(allowed, statement.path or b"/")
        )
        for crawler, statement in islice(candidates, _MOST_ASKED):
            path = statement.path or b"/"
            if not self._robots.allowed(b"http://localhost" + path, crawler):
                message = (
                    f"{shown(path)} is disallowed and has no usage preference; "
                    f"{self._name} ignores the statement."
                )
                self._findings.add(statement.line, [Remark("RS506", message)])


def _any_begins(paths: list[bytes], prefix: bytes) -> bool:
    """Whether any of the sorted paths begins with *prefix*."""
    at = bisect_left(paths, prefix)
    return at < len(paths) and paths[at].startswith(prefix)
