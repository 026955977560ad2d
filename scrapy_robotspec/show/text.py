"""Text that is safe to show, and the small words around numbers.

Whatever comes from a file, a URL list or a server passes :func:`safe` before it reaches a
terminal, a log or a page (SAF-04).
"""

from __future__ import annotations

#: Longer texts are cut before they are shown on a terminal (characters).
WIDEST = 300


def safe(text: str, longest: int | None = WIDEST) -> str:
    """``text`` with everything that does not print as itself escaped, cut to ``longest``.

    Control characters, line ends, bidi marks, invisible and unassigned characters and lone
    surrogates stand as ``\\xNN`` or ``\\uNNNN``.
    """
    cut = longest is not None and len(text) > longest
    shown = text[:longest] if cut else text
    if not shown.isprintable():
        shown = "".join(map(escaped, shown))
    return f"{shown}… ({len(text)} characters)" if cut else shown


def escaped(character: str) -> str:
    """A character, or its escape if it does not print as itself."""
    if character.isprintable():
        return character
    return character.encode("unicode-escape").decode("ascii")


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """``1 rule``, ``2,000 rules``; ``nouns`` is the plural where it takes more than an s."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(words: list[str]) -> str:
    """``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def duration(seconds: float) -> str:
    """Seconds in the unit a person would choose: ``0.25 s``, ``12 s``, ``3.5 min``, ``24 h``."""
    for length, unit in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:.1f}".removesuffix(".0") + f" {unit}"
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
