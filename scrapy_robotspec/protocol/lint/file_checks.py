"""Checks of a whole file: open, closed, nested paths."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.protocol.lint.findings import Effect, shown
from scrapy_robotspec.protocol.lint.group_checks import EVERYTHING
from scrapy_robotspec.protocol.models import DEFAULT, decode
from scrapy_robotspec.protocol.precedence import forbids, line_start

#: How the group of ``*`` has to be: open, at least in parts, or closed.
Expected = Literal["open", "closed"]

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.effects import Effects
    from scrapy_robotspec.protocol.lint.findings import Finding, Findings
    from scrapy_robotspec.protocol.lint.group_reader import Group
    from scrapy_robotspec.protocol.lint.usage_checks import Statement

#: A path without wildcards whose last name may be that of a directory.
_DIRECTORIES = re.compile(rb"^/(?:[^*$?\n]*/)?[^*$?/.=&\n]+$", re.MULTILINE)
_AUTHORITY = re.compile(r"(?i)\Ahttps?://[^/?#]*")
_WILDCARD = re.compile(rb"[*$]")


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


def check_allow(groups: Sequence[Group], effects: Effects, findings: Findings) -> None:
    """Groups that allow paths and close nothing (EXT-04)."""
    disallows = any(
        line.field == "disallow" and line.value for group in groups for line in group.rules
    )
    for group in groups:
        paths = [line for line in group.rules if line.value]
        if not paths or any(line.field == "disallow" for line in paths):
            continue
        rules = effects.rules_of(group.crawler)
        if rules is None or rules.extent != "allows all":
            continue
        effect = effects.of_crawler(group.crawler)
        wide = [line for line in paths if line.value in EVERYTHING]
        if not wide and paths[0].value.startswith((b"/", b"*")):
            fault = "The group disallows nothing, so the rest of the site is open, too"
            findings.add(paths[0], "RS319", fault, effect)
        elif wide and not disallows:
            fault = "Nothing is disallowed, so Allow has no effect"
            better = "Disallow:" if len(group.rules) == 1 else None
            findings.add(wide[0], "RS902", fault, effect, better)


def check_closed(
    groups: Sequence[Group], effects: Effects, findings: Findings, expected: Expected | None
) -> None:
    """Whether the group of ``*`` disallows every page, and may."""
    rules, effect = effects.default, effects.of_crawler(DEFAULT)
    if rules.extent == "denies all":
        start = line_start(rules.root)
        lines = (line for group in groups for line in group.rules if line.start == start)
        fault = "The site is closed to crawlers without a group of their own"
        severity = "error" if expected == "open" else CODES["RS216"].severity
        findings.add(next(lines), "RS216", fault, effect, severity=severity)
    elif expected == "closed":
        path = rules.exception if forbids(rules.root) else "/"
        findings.add(None, "RS217", f'"*" may fetch {shown(path or "/")}', effect)


def is_expectation(finding: Finding) -> bool:
    """Whether a finding is an expectation that is not met."""
    return finding.code in ("RS216", "RS217") and finding.severity == "error"


def check_sitemaps(sitemaps: Sequence[Line], effects: Effects, findings: Findings) -> None:
    """Sitemaps that the group of ``*`` disallows, unless it disallows every page."""
    rules = effects.default
    for line in sitemaps if rules.extent == "some" else ():
        path = _AUTHORITY.sub("", decode(line.value))
        if path.startswith("/") and not rules.allows(path):
            findings.add(line, "RS405", "The sitemap is disallowed", effects.of_path(DEFAULT, path))


def check_disallowed(
    rules: Sequence[Line],
    statements: Mapping[tuple[str, ...], Sequence[Statement]],
    effects: Effects,
    findings: Findings,
) -> None:
    """Usage statements, by crawlers, about pages that are disallowed (USE-03)."""
    allowed = sorted(line.value for line in rules if line.field == "allow")
    if any(b"*" in path for path in allowed):
        return
    for crawlers, some in statements.items():
        for statement in some:
            path = statement.path or b"/"
            if _WILDCARD.search(path) or _any_begins(allowed, path):
                continue
            claims = effects.of_path(crawlers[0], decode(path)).claims
            if claims and not claims[0].allowed:
                fault = f"{shown(path)} is disallowed and has no usage preference"
                effect = Effect(f"ignores the statement for {shown(crawlers[0])}", claims)
                findings.add(statement.line, "RS506", fault, effect)


def _any_begins(paths: Sequence[bytes], prefix: bytes) -> bool:
    """Whether any of the sorted paths begins with *prefix*."""
    at = bisect_left(paths, prefix)
    return at < len(paths) and paths[at].startswith(prefix)
