"""A URL -> the path that rules are compared with, and the one form both are written in.

Only spelling belongs here: what ``*`` and ``$`` do to a match stands in ``patterns.py``. The one
form is ASCII text, so that text compares as the octets of RFC 9309 section 2.2.2 do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

ROBOTS_TXT = "/robots.txt"

#: RFC 3986 section 2.3: what an escape may be undone for.
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")

#: PAT-06: the two special characters, where they are meant literally.
LITERAL = str.maketrans({"*": "%2A", "$": "%24"})


def _decoded_escape(escape: re.Match[str]) -> str:
    octet = int(escape[0][1:], 16)
    return chr(octet) if octet in _UNRESERVED else escape[0].upper()


def _upper_escape(escape: re.Match[str]) -> str:
    return escape[0].upper()


def _octet_escape(octet: re.Match[bytes]) -> bytes:
    return b"%%%02X" % octet[0][0]


def normalise(octets: bytes, edition: Edition) -> str:
    """Octets of a rule or a URL with every escape in its one form (PAT-04 to PAT-07, PAT-12).

    Incomplete escapes stay as they stand; octets that are no UTF-8 are escaped one by one (FMT-04).
    """
    if not octets.isascii():
        octets = _BEYOND_ASCII.sub(_octet_escape, octets)
    text = octets.decode("ascii")
    if "%" in text:
        text = _ESCAPE.sub(_decoded_escape if edition.decode_unreserved else _upper_escape, text)
    return text.replace(" ", "%20") if edition.decode_unreserved else text


def to_octets(url: str | bytes) -> bytes:
    """A URL as UTF-8; a lone surrogate is escaped like any other character (SAF-01)."""
    if isinstance(url, str):
        return url.encode("utf-8", "surrogatepass")
    if isinstance(url, bytes):
        return url
    raise TypeError(f"a URL must be str or bytes, not {type(url).__name__}")


def path_of(url: str | bytes, edition: Edition) -> str:
    """Path and query of a URL, normalised (PAT-01, PAT-04, PAT-08)."""
    path = normalise(_raw_path(to_octets(url), edition), edition)
    return path.translate(LITERAL) if edition.decode_unreserved else path


def _raw_path(url: bytes, edition: Edition) -> bytes:
    """From the end of the authority to the fragment; at least a slash."""
    delimiters = b"/?;" if edition.semicolon_starts_path else b"/?"
    start = _first_of(delimiters, url, _authority(url, delimiters))
    fragment = url.find(b"#")
    end = len(url) if fragment < 0 else fragment
    path = url[start:end]
    return path if path.startswith(b"/") else b"/" + path


def _authority(url: bytes, delimiters: bytes) -> int:
    """Where the authority begins, in ``scheme://authority``, ``//authority`` and ``authority``."""
    begin = 2 if url.startswith(b"//") else 0
    scheme_end = url.find(b"://", begin)
    if scheme_end < 0 or _first_of(delimiters, url, begin) < scheme_end:
        return begin
    return scheme_end + len(b"://")


def _first_of(octets: bytes, url: bytes, begin: int) -> int:
    """The first place of any of ``octets`` from ``begin`` on, else the end."""
    places = (url.find(octet, begin) for octet in octets)
    return min((place for place in places if place >= 0), default=len(url))
