"""Checks of a whole file: nested paths, usage of disallowed pages."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lint.findings import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Findings
    from scrapy_robotspec.protocol.lint.usage_checks import Statement
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: A path without wildcards whose last name may be that of a directory.
_DIRECTORIES = re.compile(rb"^/(?:[^*$?\n]*/)?[^*$?/.=&\n]+$", re.MULTILINE)
_WILDCARD = re.compile(rb"[*$]")
#: Max usage statements whose path is checked against the rules; each may read the file again.
_MOST_ASKED = 20


def check_directories(rules: Sequence[Line], findings: Findings) -> None:
    """Directories without a slash at the end (EXT-04).

    Paths inside them show that they are directories."""
    first_lines = {line.value: line for line in reversed(rules)}
    paths = sorted(first_lines)
    directories = _DIRECTORIES.findall(b"\n".join(paths))
    inside = [path for path in directories if _any_begins(paths, path + b"/")]
    for line in sorted(map(first_lines.__getitem__, inside)):
        longer = shown(line.value.rpartition(b"/")[2] + b".html")
        findings.add(line, "RS901", f"The path also matches {longer}", "compares beginnings")


def check_allow(rules: Sequence[Line], findings: Findings) -> None:
    """Allow rules in a file that disallows nothing (EXT-04)."""
    if rules and not _disallows(rules):
        fault = "Nothing is disallowed, so Allow has no effect"
        findings.add(rules[0], "RS902", fault, "allows everything", "Disallow:")


def check_disallowed(
    rules: Sequence[Line],
    statements: Mapping[tuple[str, ...], Sequence[Statement]],
    robots: RobotsTxt,
    findings: Findings,
) -> None:
    """Usage statements, by crawlers, about pages that are disallowed (USE-03)."""
    allowed = sorted(line.value for line in rules if line.field == "allow")
    if not _disallows(rules) or any(b"*" in path for path in allowed):
        return
    candidates = (
        (crawlers[0], statement)
        for crawlers, some in statements.items()
        for statement in some
        if crawlers[0]
        and not _WILDCARD.search(statement.path)
        and not _any_begins(allowed, statement.path or b"/")
    )
    for crawler, statement in islice(candidates, _MOST_ASKED):
        path = statement.path or b"/"
        if not robots.allowed(b"http://localhost" + path, crawler):
            fault = f"{shown(path)} is disallowed and has no usage preference"
            findings.add(statement.line, "RS506", fault, "ignores the statement")


def _disallows(rules: Sequence[Line]) -> bool:
    return any(line.field == "disallow" for line in rules)


def _any_begins(paths: Sequence[bytes], prefix: bytes) -> bool:
    """Whether any of the sorted paths begins with *prefix*."""
    at = bisect_left(paths, prefix)
    return at < len(paths) and paths[at].startswith(prefix)
