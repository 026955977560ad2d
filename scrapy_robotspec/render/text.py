"""Words for people: escaped text, numbers, durations, columns.

Text from outside passes :func:`safe` before it reaches a terminal, a log or a page (SAF-04).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Max lines of one kind in an explanation.
MOST = 50
#: Max length of a text on a terminal (characters).
WIDEST = 300
#: Behind the number of lines that a log leaves out.
REST = ' (ROBOTSPEC_REPORT = "robots.jsonl" lists all)'


def safe(text: str, longest: int | None = WIDEST) -> str:
    """``text`` with unprintable characters escaped, cut to ``longest`` characters.

    Control characters, line ends, bidi marks, invisible and unassigned characters and lone
    surrogates become ``\\xNN`` or ``\\uNNNN``. ``longest=None`` cuts nothing.
    """
    shown = text[:longest]
    is_cut = len(shown) < len(text)
    if not shown.isprintable():
        shown = "".join(
            each if each.isprintable() else each.encode("unicode-escape").decode("ascii")
            for each in shown
        )
    return f"{shown}… ({len(text)} characters)" if is_cut else shown


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """A number and a noun: ``1 rule``, ``2,000 rules``.

    ``nouns``: a plural that needs more than an s.
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def first_of(words: Sequence[str], most: int) -> str:
    """``a, b and 3 more``: the first words, and how many follow."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with aligned columns.

    Cells must not contain colours.
    """
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def duration(seconds: float) -> str:
    """Seconds in a readable unit: ``0.25 s``, ``3.5 min``, ``24 h``."""
    for length, unit in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:.1f}".removesuffix(".0") + f" {unit}"
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"


_COLOURS = {"good": "green", "bad": "red", "note": "yellow"}


def paint(style: str, text: str) -> str:
    """``text`` in a style: good, bad, note, faint or strong.

    Unchanged unless the colours of the command are on.
    """
    import click  # no crawl needs it

    context = click.get_current_context(silent=True)
    if context is None or not context.color:
        return text
    is_faint, is_strong = style == "faint" or None, style == "strong" or None
    return click.style(text, _COLOURS.get(style), dim=is_faint, bold=is_strong)


def verdict_word(allowed: bool | None) -> str:
    """``allowed``, ``disallowed`` or ``no answer``, painted and equally wide."""
    if allowed is None:
        return paint("note", "no answer ")
    return paint(*(("good", "allowed   ") if allowed else ("bad", "disallowed")))
