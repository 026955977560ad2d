"""Escapes text from files, URLs and servers; formats numbers, lists and durations.

Text from outside passes :func:`safe` before it reaches a terminal, a log or a page (SAF-04).
"""

from __future__ import annotations

#: Max length of a text on a terminal (characters).
WIDEST = 300


def safe(text: str, longest: int | None = WIDEST) -> str:
    """``text`` with unprintable characters escaped, cut to ``longest`` characters.

    Control characters, line ends, bidi marks, invisible and unassigned characters and lone
    surrogates become ``\\xNN`` or ``\\uNNNN``. ``longest=None`` cuts nothing.
    """
    cut = longest is not None and len(text) > longest
    shown = text[:longest] if cut else text
    if not shown.isprintable():
        shown = "".join(map(escaped, shown))
    return f"{shown}… ({len(text)} characters)" if cut else shown


def escaped(character: str) -> str:
    """A printable character unchanged, any other as its escape."""
    if character.isprintable():
        return character
    return character.encode("unicode-escape").decode("ascii")


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """A number and a noun: ``1 rule``, ``2,000 rules``.

    ``nouns``: a plural that needs more than an s.
    """
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(words: list[str]) -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def duration(seconds: float) -> str:
    """Seconds in a readable unit: ``0.25 s``, ``3.5 min``, ``24 h``."""
    for length, unit in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:.1f}".removesuffix(".0") + f" {unit}"
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
