"""A terminal, or a file in its place: colour, columns and progress.

The texts are others'; here is only how they are set out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    _T = TypeVar("_T")

_COLOURS = {"good": "32", "bad": "31", "note": "33", "faint": "2", "strong": "1"}

#: Fewer steps are over before a person looks.
_WORTH_SHOWING = 200


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether ``stream`` is a terminal that takes colours; NO_COLOR and TERM=dumb say no."""
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


class Screen:
    """Where the answers go: ``out`` for the answers, ``err`` for everything else."""

    def __init__(self, out: TextIO, err: TextIO, environment: Mapping[str, str]) -> None:
        self.out = out
        self.err = err
        self._coloured = wants_colour(out, environment)
        self._shared = out.isatty()  # then lines of the answer and of progress meet
        self._covered = False  # whether a line of progress stands on the terminal

    def paint(self, style: str, text: str) -> str:
        """``text`` in the style of that name: good, bad, note, faint or strong."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self._coloured and text else text

    def say(self, line: str = "") -> None:
        """One line of the answer. Strangers' text in it must be safe already."""
        if self._shared:
            self.clear()
        self.out.write(f"{line}\n")

    def note(self, line: str) -> None:
        """One line beside the answer."""
        self.clear()
        self.err.write(f"{line}\n")

    def progress(self, items: Sequence[_T], what: str) -> Iterator[_T]:
        """``items`` one by one; on a terminal the number done so far shows how long it takes."""
        for done, item in enumerate(items):
            self.done(done, len(items), what)
            yield item
        self.clear()

    def done(self, number: int, total: int, what: str) -> None:
        """Show how far long work is, in a line that the next text takes the place of."""
        if total < _WORTH_SHOWING or number % max(1, total // 100) or not self.err.isatty():
            return
        if self.out is not self.err:
            self.out.flush()  # or its lines would come later, over ours
        self.err.write(f"\r{what}: {number:,} of {total:,}")
        self.err.flush()
        self._covered = True

    def clear(self) -> None:
        """Take the line of progress off the terminal."""
        if self._covered:
            self.err.write("\r\x1b[K")
            self.err.flush()
            self._covered = False


def columns(rows: Iterable[Sequence[str]], gap: str = "  ") -> list[str]:
    """Rows of cells as lines with the columns under each other; no colour inside."""
    table = [list(row) for row in rows]
    widths: list[int] = []
    for row in table:
        for at, cell in enumerate(row):
            if at == len(widths):
                widths.append(0)
            widths[at] = max(widths[at], len(cell))
    return [
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in table
    ]
