"""A URL -> its canonical path: the one spelling that rules are compared with.

Canonical text is ASCII, so that it compares as the octets of RFC 9309 section 2.2.2 do. The meaning
of ``*`` and ``$`` in a rule is in ``patterns.py``.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

ROBOTS_TXT = "/robots.txt"

#: RFC 3986 section 2.3: the characters whose escapes are decoded.
_UNRESERVED = string.ascii_letters + string.digits + "-._~"
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
#: Every spelling of an escape -> the canonical one.
_DECODED = {
    f"%{high}{low}": character if character in _UNRESERVED else f"%{high}{low}".upper()
    for high in string.hexdigits
    for low in string.hexdigits
    for character in [chr(int(high + low, 16))]
}
_NOT_ASCII = re.compile("[\x80-\xff]+")
_ESCAPES = {byte: f"%{byte:02X}" for byte in range(0x80, 0x100)}
_BASE = re.compile("[A-Za-z][A-Za-z0-9+.-]*://[^/?#;]*/")

#: Finds a character of a path whose canonical spelling differs, percent signs aside.
find_noncanonical = re.compile(r"[^!-#%-)+-~]").search


#: Finds characters and escapes whose canonical spelling differs in some edition.
_find_rewritten = re.compile(
    r"[^!\"%-)+-~]|%(?!2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[189A-F][0-9A-F]|0[0-9A-F])"
).search


def _decoded_escape(escape: re.Match[str]) -> str:
    return _DECODED[escape[0]]


def _upper_escape(escape: re.Match[str]) -> str:
    return escape[0].upper()


def _escaped(characters: re.Match[str]) -> str:
    return characters[0].translate(_ESCAPES)


def canonical_text(raw: bytes, edition: Edition) -> str:
    """The canonical spelling of a rule's value or a path (PAT-04 to PAT-07, PAT-12).

    Incomplete escapes stay as they are; invalid UTF-8 is escaped byte by byte (FMT-04).
    """
    text = raw.decode("latin-1")  # one character for each byte
    if "%" in text:
        text = _ESCAPE.sub(_decoded_escape if edition.decode_unreserved else _upper_escape, text)
    if not raw.isascii():
        text = _NOT_ASCII.sub(_escaped, text)
    return text.replace(" ", "%20") if edition.decode_unreserved else text


def to_bytes(url: str | bytes) -> bytes:
    """A URL as UTF-8; a lone surrogate is escaped like any other character (SAF-01)."""
    if isinstance(url, str):
        return url.encode("utf-8", "surrogatepass")
    if isinstance(url, bytes):
        return url
    raise TypeError(f"a URL must be str or bytes, not {type(url).__name__}")


def path_of(url: str | bytes, edition: Edition) -> str:
    """The canonical path and query of a URL (PAT-01, PAT-04, PAT-08)."""
    if isinstance(url, str) and (base := base_of(url)):  # hot path
        rest = url[len(base) - 1 :]
        plain = "%" not in rest and "#" not in rest and not find_noncanonical(rest)
        return rest if plain else canonical_path(rest, edition)
    raw = to_bytes(url)
    path = raw[_path_start(raw, edition) :]
    return canonical_path(path if path.startswith(b"/") else b"/" + path, edition)


def canonical_path(path: str | bytes, edition: Edition) -> str:
    """A path from a URL in canonical spelling, without the fragment."""
    if isinstance(path, str) and not _find_rewritten(path):  # hot path
        return path
    text = canonical_text(to_bytes(path).partition(b"#")[0], edition)
    return escape_specials(text) if escapes_specials(edition) else text


def escape_specials(text: str) -> str:
    """Escape the ``*`` and ``$`` of a text that are meant literally (PAT-06)."""
    return text.replace("*", "%2A").replace("$", "%24")


def escapes_specials(edition: Edition) -> bool:
    """Whether the canonical spelling of a literal ``*`` or ``$`` is its escape (PAT-06)."""
    return edition.decode_unreserved or not edition.wildcards


def base_of(url: str) -> str:
    """A URL up to the first slash of its path, inclusive; ``""`` for an unusual URL.

    The path of any other URL with this beginning starts at the same slash, in every edition.
    """
    base = _BASE.match(url)
    return base[0] if base else ""


def _path_start(url: bytes, edition: Edition) -> int:
    """Offset of the end of the authority, which follows ``//`` or ``scheme://`` or nothing."""
    delimiters = b"/?#;" if edition.semicolon_starts_path else b"/?#"
    begin = 2 if url.startswith(b"//") else 0
    scheme_end = url.find(b"://", begin)
    if 0 <= scheme_end <= _first_of(delimiters, url, begin):
        begin = scheme_end + len(b"://")
    return _first_of(delimiters, url, begin)


def _first_of(delimiters: bytes, url: bytes, begin: int) -> int:
    """The first place of any delimiter from ``begin`` on, else the end."""
    places = (url.find(delimiter, begin) for delimiter in delimiters)
    return min((place for place in places if place >= 0), default=len(url))
