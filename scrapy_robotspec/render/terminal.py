"""Writes to a terminal or a file: colour, columns, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    _T = TypeVar("_T")

_COLOURS = {"good": "32", "bad": "31", "note": "33", "faint": "2", "strong": "1"}

#: Work of fewer steps shows no progress.
_MIN_STEPS = 200
_BAR_WIDTH = 24


def wants_colour(
    stream: TextIO, environment: Mapping[str, str], choice: bool | None = None
) -> bool:
    """Whether ``stream`` gets colours.

    ``choice`` (``--color/--no-color``) comes first, then ``NO_COLOR`` and ``FORCE_COLOR``, then
    whether ``stream`` is a terminal that can show colours.
    """
    if choice is not None:
        return choice
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


class Screen:
    """Writes answers to ``out``, and notes, summaries and progress to ``err``.

    ``quiet`` leaves out notes, summaries and progress; ``color`` as in :func:`wants_colour`.
    """

    def __init__(
        self,
        out: TextIO,
        err: TextIO,
        environment: Mapping[str, str],
        *,
        color: bool | None = None,
        quiet: bool = False,
    ) -> None:
        self.out = out
        self.err = err
        self.quiet = quiet
        self.coloured = wants_colour(out, environment, color)
        self._shared = out.isatty()  # then answers and progress are on the same screen
        self._covered = False  # whether a line of progress is on the terminal
        self._percent = 0  # shown last

    def paint(self, style: str, text: str) -> str:
        """``text`` in a style: good, bad, note, faint or strong."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.coloured and text else text

    def say(self, line: str = "") -> None:
        """Write one line of the answer, which must be escaped already."""
        if self._shared:
            self.clear()
        self.out.write(f"{line}\n")

    def sum_up(self, line: str) -> None:
        """Write the line that sums up the answer, unless quiet."""
        if not self.quiet:
            self.say(line)

    def note(self, line: str) -> None:
        """Write one line beside the answer, unless quiet."""
        if not self.quiet:
            self.fail(line)

    def fail(self, line: str) -> None:
        """Write an error, also when quiet."""
        self.clear()
        self.err.write(f"{line}\n")

    def progress(self, items: Sequence[_T], what: str) -> Iterator[_T]:
        """Yield ``items``; on a terminal a bar shows how many are done."""
        for done, item in enumerate(items):
            self.done(done, len(items), what)
            yield item
        self.clear()

    def done(self, number: int, total: int, what: str) -> None:
        """Update the progress bar of long work on a terminal."""
        if total >= _MIN_STEPS and not number % max(1, total // 100):
            self._draw(what, number / total, f"{number:,} of {total:,}")

    def share(self, number: int, total: int, what: str) -> None:
        """Update a progress bar that shows per cent; *total* 0: unknown."""
        percent = 100 * number // total if total else 0
        if total and percent != self._percent:
            self._percent = percent
            self._draw(what, percent / 100, f"{percent} %")

    def _draw(self, what: str, share: float, text: str) -> None:
        if self.quiet or not self.err.isatty():
            return
        if self.out is not self.err:
            self.out.flush()  # otherwise buffered answers would appear over the bar
        bar = "#" * int(share * _BAR_WIDTH)
        self.err.write(f"\r{what}: [{bar:<{_BAR_WIDTH}}] {text}")
        self.err.flush()
        self._covered = True

    def clear(self) -> None:
        """Remove the progress bar from the terminal."""
        if self._covered:
            self.err.write("\r\x1b[K")
            self.err.flush()
            self._covered = False


def columns(rows: Iterable[Sequence[str]], gap: str = "  ") -> list[str]:
    """Rows of cells as lines with aligned columns.

    Cells must not contain colours.
    """
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
