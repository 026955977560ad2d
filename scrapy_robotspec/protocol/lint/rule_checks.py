"""Checks of the path of one rule (RUL-04, PAT-02, PAT-03, PAT-07, PAT-12)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.lint.findings import Remark, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_STARS = re.compile(rb"\*+")
#: RFC 3986: characters that no URI contains unless escaped; the space has a code of its own.
_RAW = re.compile(rb"[\"<>\[\\\]^`{|}]")
#: Spaces and marks of no width at the end, in UTF-8; the limit bounds the message.
_INVISIBLE = re.compile(
    rb"(?:\xc2[\xa0\xad]|\xe2\x80[\x80-\x8f\xa8-\xaf]|\xe2\x81[\x9f-\xaf]|\xe3\x80\x80"
    rb"|\xef\xbb\xbf){1,4}\Z"
)
_URL = re.compile(rb"(?:[a-z][a-z0-9+.-]*:)?//|www\.", re.I)
_QUOTED = re.compile(rb"([\"'`]).*\1", re.S)
_WORDS = frozenset(
    b"all|any|allow|disallow|empty|everything|false|n/a|never|nil|no|none|nothing|null|off|on|true|yes|-".split(
        b"|"
    )
)

_USUAL = rb"[A-Za-z0-9!&-)+-;=?@_~]"
#: Paths without a remark, in editions with and without wildcards.
_USUAL_PATHS = {
    True: re.compile(rb"/" + _USUAL + rb"*(?:\*+" + _USUAL + rb"+){0,50}\$?"),
    False: re.compile(rb"/" + _USUAL + rb"*"),
}


def usual_path(edition: Edition) -> re.Pattern[bytes]:
    """Matches most of the paths that :func:`check_path` has no remark about."""
    return _USUAL_PATHS[edition.wildcards]


def check_path(line: Line, edition: Edition) -> Iterator[Remark]:
    """Findings about the path of a rule."""
    path = line.value
    if _STARS.fullmatch(path):
        yield Remark("RS310", _star_path(line, edition))
        return
    if usual_path(edition).fullmatch(path.rstrip(b"*")):  # hot path
        yield from _check_wildcards(path, edition)
        return
    if not path.startswith(b"/"):
        remark = _check_start(path, edition)
        if remark:
            yield remark
            if remark.code == "RS311":
                return
    yield from _check_wildcards(path, edition)
    if _BROKEN_ESCAPE.search(path):
        yield Remark(
            "RS308", f"A percent sign starts no escape; {edition.name} compares it as written."
        )
    yield from _check_raw(path, edition)
    invisible = _INVISIBLE.search(path)
    if invisible:
        names = ", ".join(f"U+{ord(character):04X}" for character in invisible[0].decode())
        yield Remark(
            "RS314", f"The path ends with the invisible {names}; {edition.name} compares it too."
        )


def _star_path(line: Line, edition: Edition) -> str:
    read = f"{line.field}s everything" if edition.wildcards else "never applies the rule"
    return f"A star is not a path; {edition.name} {read}."


def _check_start(path: bytes, edition: Edition) -> Remark | None:
    """A path that does not start with a slash (RUL-04)."""
    name = edition.name
    if path.startswith(b"*") and edition.slashless is Slashless.PATTERN:
        return None
    assumed = edition.slashless is Slashless.ASSUMED
    read = "puts a slash before it" if assumed else "never applies the rule"
    kind = None
    if _URL.match(path):
        kind = "a URL"
    elif _QUOTED.fullmatch(path):
        kind = "a quoted text"
    elif path.lower() in _WORDS:
        kind = "a word"
    if kind:
        return Remark("RS311", f"{shown(path)} is {kind}, not a path; {name} {read}.")
    return Remark("RS301", f"The path does not start with a slash; {name} {read}.")


def _check_wildcards(path: bytes, edition: Edition) -> Iterator[Remark]:
    name = edition.name
    if not edition.wildcards:
        if b"*" in path or b"$" in path:
            yield Remark(
                "RS306", f"Stars and dollar signs are not special; {name} compares them as written."
            )
        return
    if b"$" in path[:-1]:
        yield Remark(
            "RS302",
            f"A dollar sign before the end is an ordinary character; {name} compares it as such.",
        )
    if path.endswith(b"*"):
        read = "counts it in the length only" if edition.count_trailing_star else "ignores it"
        yield Remark("RS305", f"A star at the end of a path matches nothing more; {name} {read}.")


def _check_raw(path: bytes, edition: Edition) -> Iterator[Remark]:
    """Characters that clients escape in URLs (PAT-12)."""
    name = edition.name
    escapes = edition.decode_unreserved
    if b" " in path:
        read = "reads it as %20" if escapes else "finds no URL that matches"
        yield Remark("RS309", f"A space in a path is a part of the path; {name} {read}.")
    raw = _RAW.search(path)
    if raw is None:
        return
    character = shown(raw[0])
    if escapes:
        escape = f"%{raw[0][0]:02X}"
        yield Remark("RS312", f"URLs contain {character} as {escape} only; {name} reads it so.")
    else:
        yield Remark(
            "RS313",
            f"URLs contain {character} only escaped; {name} finds no URL that matches the rule.",
        )
