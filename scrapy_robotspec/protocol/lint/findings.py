"""Collects the findings of one file; their number is bounded (SAF-02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.protocol.models import Severity, decode

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.lines import Line

#: Findings of one code that are listed for one file; the others are only counted.
LISTED = 100
#: Codes of which one finding is listed: the reason is the same for all lines.
_LISTED_ONCE = frozenset({"RS302", "RS903"})
#: Characters of a text that a message repeats.
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of the linter, about a line or the whole file."""

    line: int
    """Line number from 1; 0 for the file as a whole."""
    code: str
    message: str
    text: str
    """The line as written, without its line end; empty for the file as a whole."""
    severity: Severity
    """How much it matters; ``docs/lint.md`` defines the words."""
    replacement: str | None = None
    """A line with which every edition gives the same verdicts; ``""``: delete the line; None: no
    proposal."""


class Findings:
    """Findings of one file, in the making."""

    def __init__(self, edition_name: str) -> None:
        self._edition_name = edition_name
        self._listed: list[Finding] = []
        self._counts: dict[str, int] = {}

    def add(
        self,
        line: Line | None,
        code: str,
        fault: str,
        effect: str,
        replacement: str | None = None,
    ) -> None:
        """Add a finding about a line, or about the whole file.

        ``effect``: how the edition reads it, without the subject. ``replacement`` as in
        :class:`Finding`.
        """
        count = self._counts[code] = self._counts.get(code, 0) + 1
        if count <= _most(code):
            number, text = (line.number, line.text) if line is not None else (0, b"")
            message = f"{fault}; {self._edition_name} {effect}."
            severity = CODES[code].severity
            finding = Finding(number, code, message, decode(text), severity, replacement)
            self._listed.append(finding)

    def sorted(self) -> tuple[Finding, ...]:
        """The findings in file order, and how many are left out."""
        left_out = [
            Finding(
                0,
                code,
                f"Lines with this finding that are not listed: {count}.",
                "",
                CODES[code].severity,
            )
            for code, total in self._counts.items()
            if (count := total - _most(code)) > 0
        ]
        return tuple(
            sorted([*self._listed, *left_out], key=lambda finding: (finding.line, finding.code))
        )


def shown(text: str | bytes) -> str:
    """A quoted and shortened text for a message."""
    text = decode(text) if isinstance(text, bytes) else text
    return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'


def _most(code: str) -> int:
    return 1 if code in _LISTED_ONCE else LISTED
