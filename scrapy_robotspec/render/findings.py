"""Findings of the linter grouped by code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.lint.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.lint.findings import Finding

_ORDER = ("error", "warning", "advice")
STYLES = {"error": "bad", "warning": "note", "advice": ""}


class CodeFindings(NamedTuple):
    """All findings of one code in one file."""

    code: str
    severity: str
    style: str
    remedy: str
    findings: Sequence[Finding]

    @property
    def is_open(self) -> bool:
        """Whether they are shown at once; advice is folded."""
        return self.severity != "advice"


def by_code(findings: Sequence[Finding]) -> list[CodeFindings]:
    """Findings by code, errors first."""
    codes: dict[str, list[Finding]] = {}
    for finding in findings:
        codes.setdefault(finding.code, []).append(finding)
    made = [
        CodeFindings(code, found[0].severity, STYLES[found[0].severity], CODES[code].remedy, found)
        for code, found in codes.items()
    ]
    return sorted(made, key=lambda one: (_ORDER.index(one.severity), one.code))
