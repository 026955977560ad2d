"""Characters that are invisible, or that look like ASCII signs."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BLANK = "\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
#: Joiners and apostrophes, which belong to words of some languages, except at the ends.
_ENDS = "[\u200c\u200d\u2018\u2019]"
_SIGNS = "\u00ab\u00bb\u2010-\u201f\u2039\u203a\u2044\u2215\u2217\u2236\uff01-\uff5e"

_IN_PATH = re.compile(f"[{_BLANK}\u201c-\u201f]|\\A{_ENDS}|{_ENDS}\\Z")
_ODD = re.compile(f"{_IN_PATH.pattern}|[{_SIGNS}]")
#: Code points that a message names.
_MOST = 4


def odd_in_path(text: str) -> str:
    """Code points of invisible characters and quotes, as ``U+00A0, U+201C``."""
    return code_points(_IN_PATH.findall(text))


def odd(text: str) -> str:
    """Code points of invisible characters and look-alikes; empty for none."""
    return code_points(_ODD.findall(text))


def as_intended(text: str) -> str:
    """A text with ASCII signs for full-width ones, without invisible characters."""
    return unicodedata.normalize("NFKC", _IN_PATH.sub("", text))


def kind_of(text: str, patterns: Mapping[str, str]) -> str:
    """The first kind whose pattern a text begins with; empty for none."""
    return next((kind for kind, each in patterns.items() if re.match(each, text, re.I)), "")


def code_points(characters: Iterable[str]) -> str:
    """The names of some characters, as ``U+00A0, U+200B``."""
    names = dict.fromkeys(f"U+{ord(character):04X}" for character in characters)
    return ", ".join(islice(names, _MOST))
