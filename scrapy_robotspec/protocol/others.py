"""Whether a file may hold lines that the protocol does not know (EXT-03), told at a glance.

Only the glance belongs here. Which lines they are, and whose, is read in ``groups.py``.
"""

from __future__ import annotations

import re

#: A line that need not be read for other fields: empty, a comment, or one of the four common
#: fields in its usual spelling. What looks odd in any way is left to those who read lines.
_PLAIN = rb"(?:(?:user-agent|allow|disallow|sitemap)[ \t]*:|[#\r\n]|\Z)"

_ODD = tuple(
    re.compile(begin + _PLAIN + rb")", re.IGNORECASE)
    for begin in (rb"\A(?!(?:\xef\xbb\xbf)?", rb"\n(?!", rb"\r(?!")
)


def may_hold_others(body: bytes) -> bool:
    """False only where :meth:`RobotsTxt.other` gives nothing, whoever asks, in every edition."""
    return any(odd.search(body) for odd in _ODD)
