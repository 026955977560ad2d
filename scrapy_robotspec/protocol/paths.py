"""Canonical paths: the one spelling that is compared.

Canonical text is ASCII, so it compares like the bytes of RFC 9309 section 2.2.2. The meaning
of ``*`` and ``$`` in a rule is in ``patterns.py``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

ROBOTS_TXT = "/robots.txt"

#: RFC 3986 section 2.3: unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~". Their escapes are
#: decoded, except in google (PAT-05).
_UNRESERVED = re.compile("[A-Za-z0-9._~-]").match
#: The second and third character of an escape whose canonical spelling is itself.
_CANONICAL = "2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]|[189A-F][0-9A-F]|0[0-9A-F]"
#: RFC 3986 section 2.1: pct-encoded = "%" HEXDIG HEXDIG. Any other escape, or a percent sign that
#: begins none (PAT-07).
_PERCENT = re.compile(f"%(?!{_CANONICAL})(?:[0-9A-Fa-f]{{2}})?")
#: Stands behind a percent sign that begins no escape, so that it equals itself only (PAT-07). No
#: rule contains a line end, and in a URL it is escaped.
INCOMPLETE = "\r"
_small_digit = re.compile(f"{INCOMPLETE}[a-f]")
#: The canonical spelling of a literal ``*`` and ``$``, escaped or not (PAT-06). One character, so
#: that no rule matches a part of it: ``/*4`` matches ``/a%C3%A4`` and not ``/a$``.
LITERAL_STAR, LITERAL_DOLLAR = "\x01", "\x02"
#: The canonical spelling of an apostrophe in a query, escaped or not (PAT-12): clients escape it
#: there, and not in a path.
QUERY_APOSTROPHE = "\x03"
#: Characters that no URI contains raw (PAT-12, RFC 3986 section 2), except LF, which parts values.
_NOT_IN_URI = bytes(byte for byte in range(0x21) if byte != 0x0A) + b'"<>[\\]^`{|}\x7f'
_NOT_IN_URI += bytes(range(0x80, 0x100))
_NOT_ASCII = re.compile("[\x80-\xff]+")
_ALL_NOT_IN_URI = re.compile(f"[{re.escape(_NOT_IN_URI.decode('latin-1'))}]+")
#: RFC 3986 section 3: scheme ":" "//" authority path-abempty, with
#:     scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
#: up to the first slash of the path. ";" begins the path in google (PAT-08), a backslash is one of
#: its slashes (PAT-12): neither is taken into an authority here.
_BASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#;\\]*/")
#: RFC 3986 section 4.1: URI-reference, up to its path: scheme and authority may be absent.
_AUTHORITY = re.compile("(?:[^/]*:)?//[^/]*|")
#: The same for any text: the path begins at a query or fragment, too; in google at ";" (PAT-08).
_TO_PATH = {
    is_google: re.compile(rb"(?://)?(?:[^/?#%b]*://)?[^/?#%b]*" % (also, also)).match
    for is_google, also in ((False, b""), (True, b";"))
}
_DOTS = {".": ".", "%2e": ".", "..": "..", "%2e.": "..", ".%2e": "..", "%2e%2e": ".."}

#: Finds a character of a path whose canonical spelling differs, percent signs aside.
find_noncanonical = re.compile(r"[^!#%&()+-;=?-Z_a-z~]").search

#: Finds characters and escapes whose canonical spelling differs in some edition.
_find_rewritten = re.compile(rf"[^!%&()+-;=?-Z_a-z~]|%(?!{_CANONICAL})|%2[47Aa]").search

#: Finds an apostrophe of canonical text.
find_apostrophes = re.compile("'|%27").finditer


def is_robots_txt(url: str) -> bool:
    """Whether an absolute URL is that of a robots.txt (LOC-01)."""
    return url.partition("://")[2].partition("/")[2] == ROBOTS_TXT.removeprefix("/")


def canonical_text(raw: bytes, edition: Edition) -> str:
    """The canonical spelling of a value or path (PAT-04 to PAT-12).

    Invalid UTF-8 is escaped byte by byte (FMT-04).
    """
    text = raw.decode("latin-1")  # one character for each byte
    if not edition.decode_unreserved:
        if "%" in text:
            text = _PERCENT.sub(lambda escape: escape[0].upper(), text)
        return text if raw.isascii() else _NOT_ASCII.sub(_escaped, text)
    if len(raw.translate(None, _NOT_IN_URI)) < len(raw):
        text = _ALL_NOT_IN_URI.sub(_escaped, text)
    if b"%" in raw:
        text = _PERCENT.sub(lambda escape: _decoded(escape[0]), text)
        if INCOMPLETE in text:
            text = _small_digit.sub(lambda digit: digit[0].upper(), text)
    return text


@cache  # there are 485 spellings
def _decoded(escape: str) -> str:
    if escape == "%":
        return escape + INCOMPLETE
    character = chr(int(escape[1:], 16))
    return character if _UNRESERVED(character) else escape.upper()


def _escaped(characters: re.Match[str]) -> str:
    return "%" + characters[0].encode("latin-1").hex("%").upper()


def to_bytes(url: str | bytes) -> bytes:
    """A URL as UTF-8; lone surrogates are escaped (SAF-01)."""
    if isinstance(url, str):
        return url.encode("utf-8", "surrogatepass")
    if isinstance(url, bytes):
        return url
    raise TypeError(f"a URL must be str or bytes, not {type(url).__name__}")


def path_of(url: str | bytes, edition: Edition) -> str:
    """The canonical path and query of a URL (PAT-01, PAT-04, PAT-08)."""
    if isinstance(url, str) and (base := base_of(url)):  # hot path
        return canonical_path(url[len(base) - 1 :], edition)
    raw = to_bytes(url)
    if edition.decode_unreserved:
        raw = _with_slashes(raw)
    begin = _TO_PATH[edition.semicolon_starts_path](raw).end()  # type: ignore[union-attr]
    path = raw[begin:]
    return canonical_path(path if path.startswith(b"/") else b"/" + path, edition)


def canonical_path(path: str | bytes, edition: Edition) -> str:
    """A path from a URL in canonical spelling, without the fragment."""
    if isinstance(path, str) and not _find_rewritten(path):  # hot path
        return path
    raw = to_bytes(path).partition(b"#")[0]
    if edition.decode_unreserved:
        text = canonical_text(_with_slashes(raw), edition).replace("\n", "%0A")
        text = join_apostrophes(text)
    else:
        text = canonical_text(raw, edition)
    return escape_specials(text) if escapes_specials(edition) else text


def _with_slashes(url: bytes) -> bytes:
    """A URL as clients read it: a backslash before the query is a slash (PAT-12)."""
    if b"\\" not in url:
        return url
    path = re.split(rb"[?#]", url, maxsplit=1)[0]
    return path.replace(b"\\", b"/") + url[len(path) :]


def as_sent(url: str) -> str:
    """*url* as Scrapy requests it: without an empty query (PAT-13)."""
    address, mark, fragment = url.partition("#")
    path, _, query = address.partition("?")
    return url if query else path + mark + fragment


def resolve_dots(target: str) -> str:
    """A URL or path without dot segments (PAT-15, RFC 3986 section 5.2.4).

    A semicolon at the end of its path is left out too: Twisted does not send empty parameters.
    Returns *target* itself if its path has neither. Only then are backslashes left as they are.
    """
    # hot path: every path that is read otherwise contains one of these
    if not ("/." in target or "/%2" in target or ";" in target or "\\" in target):
        return target
    end = len(re.split("[?#]", target, maxsplit=1)[0])
    url = target[:end].replace("\\", "/")
    begin = _AUTHORITY.match(url).end()  # type: ignore[union-attr]  # may be empty
    segments = url[begin:].removeprefix("/").split("/")
    name, mark, parameters = segments[-1].partition(";")
    if mark and not parameters:
        segments[-1] = name
    elif _DOTS.keys().isdisjoint(map(str.lower, segments)):
        return target
    kept: list[str] = []
    for segment in segments:
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
        elif dots == ".." and kept:
            kept.pop()
    if dots is not None:
        kept.append("")
    path = "/" + "/".join(kept)
    if begin == 0 and path.startswith("//"):
        path = "//" + path  # an empty authority: the path is not taken for one
    return url[:begin] + path + target[end:]


def escape_specials(text: str) -> str:
    """Canonical text with every ``*`` and ``$`` a literal (PAT-06)."""
    return join_escapes(text).replace("*", LITERAL_STAR).replace("$", LITERAL_DOLLAR)


def join_escapes(text: str) -> str:
    """Canonical text with escaped ``*`` and ``$`` in one character (PAT-06)."""
    return text.replace("%2A", LITERAL_STAR).replace("%24", LITERAL_DOLLAR)


def join_apostrophes(text: str) -> str:
    """Canonical text with the apostrophes of its query in one spelling (PAT-12)."""
    path, mark, query = text.partition("?")
    return path + mark + query.replace("'", QUERY_APOSTROPHE).replace("%27", QUERY_APOSTROPHE)


def escapes_specials(edition: Edition) -> bool:
    """Whether a literal ``*`` or ``$`` equals its escape (PAT-06)."""
    return edition.decode_unreserved or not edition.wildcards


def base_of(url: str) -> str:
    """A URL up to its path; ``""`` for an unusual URL.

    The path of any other URL with this beginning starts at the same slash, in every edition.
    """
    base = _BASE.match(url)
    return base[0] if base else ""
