"""Collects the findings of one file; their number is bounded (SAF-02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.lint.codes import CODES
from scrapy_robotspec.protocol.models import Severity, decode

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class Remark(NamedTuple):
    """A code with its message, about a line that the caller knows."""

    code: str
    message: str
    replacement: str | None = None
    """As in :class:`Finding`."""


class Findings:
    """Findings of one file, in the making."""

    def __init__(self) -> None:
        self._listed: list[Finding] = []
        self._counts: dict[str, int] = {}

    def add(self, line: Line, remarks: Iterable[Remark]) -> None:
        """Add remarks about a line."""
        for remark in remarks:
            self._add(line.number, remark, line.text)

    def add_for_file(self, remark: Remark) -> None:
        """Add a remark about the whole file."""
        self._add(0, remark, b"")

    def sorted(self) -> tuple[Finding, ...]:
        """The findings in file order, and how many are left out."""
        left_out = [
            _finding(0, Remark(code, f"Lines with this finding that are not listed: {count}."), b"")
            for code, total in self._counts.items()
            if (count := total - _most(code)) > 0
        ]
        return tuple(
            sorted([*self._listed, *left_out], key=lambda finding: (finding.line, finding.code))
        )

    def _add(self, number: int, remark: Remark, text: bytes) -> None:
        count = self._counts[remark.code] = self._counts.get(remark.code, 0) + 1
        if count <= _most(remark.code):
            self._listed.append(_finding(number, remark, text))


def shown(text: str | bytes) -> str:
    """A quoted and shortened text for a message."""
    text = decode(text) if isinstance(text, bytes) else text
    return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'


def _most(code: str) -> int:
    return 1 if code in _LISTED_ONCE else LISTED


def _finding(number: int, remark: Remark, text: bytes) -> Finding:
    code, message, replacement = remark
    return Finding(number, code, message, decode(text), CODES[code].severity, replacement)
