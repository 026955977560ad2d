"""The HTML page of the linter."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.render.findings import CodeFindings, by_code
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.listing import Block, Notes, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.render.parsed_file import ParsedFile

#: More files than this are shown by their findings only.
MOST_WHOLE_FILES = 10
#: Max findings on a page, so that it stays below 3 MB, and of one file among many.
_MOST_FINDINGS = 10_000
_MOST_OF_ONE_FILE = 50


class _File(NamedTuple):
    """One file with its findings."""

    name: str
    errors: int
    warnings: int
    advice: int
    codes: Sequence[CodeFindings]
    left_out: int
    summary: str = ""
    blocks: Sequence[Block] = ()


def lint_page(
    linted: Sequence[tuple[str, list[Finding]]], parsed: Sequence[ParsedFile], *, now: float
) -> str:
    """Findings by file and code.

    ``parsed``: the same files, to be shown whole; empty for many files.
    """
    room = _MOST_FINDINGS
    files: list[_File] = []
    for at, (name, findings) in enumerate(linted):
        if parsed:
            files.append(_whole(name, findings, parsed[at]))
            continue
        most = min(_MOST_OF_ONE_FILE, room)
        files.append(_file(name, findings, most))
        room -= min(most, len(findings))
    codes = Counter(finding.code for _, findings in linted for finding in findings)
    return render("lint.html", now=now, files=files, whole=bool(parsed), codes=codes.most_common())


def _file(name: str, findings: Sequence[Finding], most: int) -> _File:
    numbers = Counter(finding.severity for finding in findings)
    return _File(
        name,
        numbers["error"],
        numbers["warning"],
        numbers["advice"],
        by_code(findings[:most]),
        max(0, len(findings) - most),
    )


def _whole(name: str, findings: Sequence[Finding], parsed: ParsedFile) -> _File:
    notes = Notes()
    for finding in findings:
        notes.add_finding(finding)
    made = _file(name, findings, len(findings))
    return made._replace(summary=parsed.summary(), blocks=listing(parsed, notes))
