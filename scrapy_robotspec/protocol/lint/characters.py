"""Characters that are invisible, or that look like ASCII signs."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLANK = "\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
#: Joiners belong to words of some languages, except at the ends.
_JOINERS = "\u200c\u200d"
_SIGNS = "\u00ab\u00bb\u2010-\u2015\u2018-\u201f\u2039\u203a\u2044\u2215\u2217\u2236\uff01-\uff5e"

_INVISIBLE = re.compile(f"[{_BLANK}]|\\A[{_JOINERS}]|[{_JOINERS}]\\Z")
_ODD = re.compile(f"{_INVISIBLE.pattern}|[{_SIGNS}]")
#: Code points that a message names.
_MOST = 4


def invisible(text: str) -> str:
    """Code points of the invisible characters, as ``U+00A0, U+200B``; empty for none."""
    return code_points(_INVISIBLE.findall(text))


def odd(text: str) -> str:
    """Code points of invisible characters and look-alikes; empty for none."""
    return code_points(_ODD.findall(text))


def as_meant(text: str) -> str:
    """A text with ASCII signs for full-width ones, and without invisible characters."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))


def code_points(characters: Iterable[str]) -> str:
    """The names of some characters, as ``U+00A0, U+200B``."""
    names = dict.fromkeys(f"U+{ord(character):04X}" for character in characters)
    return ", ".join(islice(names, _MOST))
