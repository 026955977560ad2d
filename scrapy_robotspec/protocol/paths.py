"""A URL -> the path that rules are compared with, and the one form both are written in.

Only spelling belongs here: what ``*`` and ``$`` do to a match stands in ``patterns.py``. The one
form is ASCII text, so that text compares as the octets of RFC 9309 section 2.2.2 do.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

ROBOTS_TXT = "/robots.txt"

#: RFC 3986 section 2.3: what an escape may be undone for.
_UNRESERVED = string.ascii_letters + string.digits + "-._~"
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
#: Every way to write an escape -> its one form.
_DECODED = {
    f"%{high}{low}": character if character in _UNRESERVED else f"%{high}{low}".upper()
    for high in string.hexdigits
    for low in string.hexdigits
    for character in [chr(int(high + low, 16))]
}
_BEYOND_ASCII = re.compile("[\x80-\xff]+")
_ESCAPES = {octet: f"%{octet:02X}" for octet in range(0x80, 0x100)}
_BASE = re.compile("[A-Za-z][A-Za-z0-9+.-]*://[^/?#;]*/")

#: Finds a character of a path that has another form, percent signs aside.
find_unspelt = re.compile(r"[^!-#%-)+-~]").search


#: Finds what may have another form in a path, in some edition; escapes in their one form do not.
_find_respelt = re.compile(
    r"[^!\"%-)+-~]|%(?!2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[189A-F][0-9A-F]|0[0-9A-F])"
).search


def _decoded_escape(escape: re.Match[str]) -> str:
    return _DECODED[escape[0]]


def _upper_escape(escape: re.Match[str]) -> str:
    return escape[0].upper()


def _escaped(characters: re.Match[str]) -> str:
    return characters[0].translate(_ESCAPES)


def normalise(octets: bytes, edition: Edition) -> str:
    """Octets of a rule or a URL with every escape in its one form (PAT-04 to PAT-07, PAT-12).

    Incomplete escapes stay as they stand; octets that are no UTF-8 are escaped one by one (FMT-04).
    """
    text = octets.decode("latin-1")  # one character for each octet
    if "%" in text:
        text = _ESCAPE.sub(_decoded_escape if edition.decode_unreserved else _upper_escape, text)
    if not octets.isascii():
        text = _BEYOND_ASCII.sub(_escaped, text)
    return text.replace(" ", "%20") if edition.decode_unreserved else text


def to_octets(url: str | bytes) -> bytes:
    """A URL as UTF-8; a lone surrogate is escaped like any other character (SAF-01)."""
    if isinstance(url, str):
        return url.encode("utf-8", "surrogatepass")
    if isinstance(url, bytes):
        return url
    raise TypeError(f"a URL must be str or bytes, not {type(url).__name__}")


def path_of(url: str | bytes, edition: Edition) -> str:
    """Path and query of a URL, in the one form (PAT-01, PAT-04, PAT-08)."""
    if isinstance(url, str) and (base := base_of(url)):  # a third of the time, where it is plain
        rest = url[len(base) - 1 :]
        plain = "%" not in rest and "#" not in rest and not find_unspelt(rest)
        return rest if plain else spell(rest, edition)
    octets = to_octets(url)
    path = octets[_path_start(octets, edition) :]
    return spell(path if path.startswith(b"/") else b"/" + path, edition)


def spell(path: str | bytes, edition: Edition) -> str:
    """A path as it stands in a URL, in the one form and without the fragment."""
    if isinstance(path, str) and not _find_respelt(path):  # a quarter of the time, and frequent
        return path
    text = normalise(to_octets(path).partition(b"#")[0], edition)
    return literally(text) if spells_specials(edition) else text


def literally(text: str) -> str:
    """A text whose ``*`` and ``$`` are meant literally, with their escapes (PAT-06)."""
    return text.replace("*", "%2A").replace("$", "%24")


def spells_specials(edition: Edition) -> bool:
    """Whether a ``*`` or ``$`` that is meant literally is spelt as its escape (PAT-06)."""
    return edition.decode_unreserved or not edition.wildcards


def base_of(url: str) -> str:
    """A URL up to and with the slash its path begins with, or ``""`` where that is not plain.

    The path of any other URL that begins alike begins at the same slash, in every edition.
    """
    base = _BASE.match(url)
    return base[0] if base else ""


def _path_start(url: bytes, edition: Edition) -> int:
    """Where the authority ends; it begins the URL, or stands behind ``//`` or ``scheme://``."""
    delimiters = b"/?#;" if edition.semicolon_starts_path else b"/?#"
    begin = 2 if url.startswith(b"//") else 0
    scheme_end = url.find(b"://", begin)
    if 0 <= scheme_end <= _first_of(delimiters, url, begin):
        begin = scheme_end + len(b"://")
    return _first_of(delimiters, url, begin)


def _first_of(octets: bytes, url: bytes, begin: int) -> int:
    """The first place of any of ``octets`` from ``begin`` on, else the end."""
    places = (url.find(octet, begin) for octet in octets)
    return min((place for place in places if place >= 0), default=len(url))
