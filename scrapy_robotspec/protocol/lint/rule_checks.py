"""Checks of the path of one rule (RUL-04, PAT-02, PAT-03, PAT-07, PAT-12)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.lint.findings import shown

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Findings

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


def check_path(line: Line, edition: Edition, findings: Findings) -> None:
    """Check the path of a rule, if it has one."""
    path = line.value
    if not path:
        return
    if _STARS.fullmatch(path):
        read = f"{line.field}s everything" if edition.wildcards else "never applies the rule"
        findings.add(line, "RS310", "A star is not a path", read)
        return
    if not path.startswith(b"/"):
        kind = _kind_of(path)
        read = "never applies the rule"
        if edition.slashless is Slashless.ASSUMED:
            read = "puts a slash before it"
        if path.startswith(b"*") and edition.slashless is Slashless.PATTERN:
            pass
        elif kind:
            findings.add(line, "RS311", f"{shown(path)} is {kind}, not a path", read)
            return
        else:
            findings.add(line, "RS301", "The path does not start with a slash", read)
    _check_wildcards(line, edition, findings)
    if _BROKEN_ESCAPE.search(path):
        findings.add(line, "RS308", "A percent sign starts no escape", "compares it as written")
    _check_raw(line, edition, findings)
    invisible = _INVISIBLE.search(path)
    if invisible:
        names = ", ".join(f"U+{ord(character):04X}" for character in invisible[0].decode())
        fault = f"The path ends with the invisible {names}"
        findings.add(line, "RS314", fault, "compares it too")


def _kind_of(path: bytes) -> str:
    """Text that is written instead of a path (RUL-04); empty for none."""
    if _URL.match(path):
        return "a URL"
    if _QUOTED.fullmatch(path):
        return "a quoted text"
    return "a word" if path.lower() in _WORDS else ""


def _check_wildcards(line: Line, edition: Edition, findings: Findings) -> None:
    path = line.value
    if not edition.wildcards:
        if b"*" in path or b"$" in path:
            fault = "Stars and dollar signs are not special"
            findings.add(line, "RS306", fault, "compares them as written")
        return
    if b"$" in path[:-1]:
        fault = "A dollar sign before the end is an ordinary character"
        findings.add(line, "RS302", fault, "compares it as such")
    if path.endswith(b"*"):
        read = "counts it in the length only" if edition.count_trailing_star else "ignores it"
        findings.add(line, "RS305", "A star at the end of a path matches nothing more", read)


def _check_raw(line: Line, edition: Edition, findings: Findings) -> None:
    """Characters that clients escape in URLs (PAT-12)."""
    escapes = edition.decode_unreserved
    if b" " in line.value:
        read = "reads it as %20" if escapes else "finds no URL that matches"
        findings.add(line, "RS309", "A space in a path is a part of the path", read)
    raw = _RAW.search(line.value)
    if raw is None:
        return
    contain = f"URLs contain {shown(raw[0])}"
    if escapes:
        findings.add(line, "RS312", f"{contain} as %{raw[0][0]:02X} only", "reads it so")
    else:
        effect = "finds no URL that matches the rule"
        findings.add(line, "RS313", f"{contain} only escaped", effect)
