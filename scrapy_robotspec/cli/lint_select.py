"""Selects and explains the codes of the linter."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.protocol.lint.codes import CODES, find_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.render.terminal import Screen

_WIDTH = 88  #: columns of an explanation


class Selection(NamedTuple):
    """Which findings are shown."""

    select: tuple[str, ...]
    """Beginnings of codes; none: all codes."""
    ignore: tuple[str, ...]
    advice: bool

    @classmethod
    def of(cls, select: Sequence[str], ignore: Sequence[str], advice: bool) -> Selection:
        """From options. Raises :class:`MisuseError` for a code that does not exist."""
        return cls(_codes(select), _codes(ignore), advice)

    def has(self, finding: Finding) -> bool:
        """Whether a finding is shown.

        Advice is shown with ``--advice``, or if its code is selected.
        """
        if finding.code.startswith(self.ignore or ("-",)):
            return False
        if self.select:
            return finding.code.startswith(self.select)
        return self.advice or finding.severity != "advice"


def _codes(options: Sequence[str]) -> tuple[str, ...]:
    codes = tuple(code.strip().upper() for option in options for code in option.split(","))
    for code in codes:
        if not code or not any(known.startswith(code) for known in CODES):
            raise _no_such_code(code)
    return codes


def _no_such_code(code: str) -> MisuseError:
    from difflib import get_close_matches

    close = get_close_matches(code, CODES)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(CODES)}"
    return MisuseError(f"no such code: {code!r}; {hint}")


def explain_code(code: str, screen: Screen) -> Iterator[str]:
    """The code with this code or short name; else :class:`MisuseError`."""
    from textwrap import wrap

    found = find_code(code)
    if found is None:
        raise _no_such_code(code.strip().upper())
    yield f"{screen.paint('strong', found.code)} {found.name} ({found.severity}): {found.message}"
    yield ""
    yield from wrap(found.why, _WIDTH)
    yield ""
    yield from wrap(found.remedy, _WIDTH)
    edition = f" (edition {found.edition})" if found.edition else ""
    for title, text in ((f"Example{edition}:", found.example), ("Without it:", found.better)):
        if text:
            yield ""
            yield title
            yield from (f"    {line}".rstrip() for line in text.splitlines())
