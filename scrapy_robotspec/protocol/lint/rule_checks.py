"""Checks of the path of one rule (FMT-07, RUL-04, PAT)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.lint.characters import code_points, odd_in_path
from scrapy_robotspec.protocol.lint.findings import Effect, shown
from scrapy_robotspec.protocol.lint.group_checks import EVERYTHING
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.effects import Effects
    from scrapy_robotspec.protocol.lint.findings import Claim, Findings
    from scrapy_robotspec.protocol.lint.group_reader import Group

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
#: A path in which there is nothing to check, unless text follows it.
_PLAIN = re.compile(rb"/(?:[\w-]|[/.](?![/.]))*")
_NEVER = "never applies the rule"
_STARS = re.compile(rb"\*+")
#: RFC 3986: characters that no URI contains unless escaped; the space has a code of its own.
_RAW = re.compile(rb"[\"<>\[\\\]^`{|}]")
_URL = re.compile(rb"(?:[a-z][a-z0-9+.-]*:)?//|www\.", re.I)
_QUOTED = re.compile(rb"([\"'`]).*\1", re.S)
#: A comment right behind a path, without a space in it: the fragment of a URL.
_FRAGMENT = re.compile(rb"[^\s:#]#[^\s#]*\s*\Z")
_ENTITY = re.compile(rb"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]+|#x[0-9a-f]+);", re.I)
#: Regular expressions, and parameters of routes.
_OTHER_NOTATION = re.compile(
    rb"\^/|\\[./?dws]|/\.[*+]|\A/?\(?\.[*+]|\[\^?[a-z0-9]-[a-z0-9]|\(\?|\([^()]*\|[^()]*\)"
    rb"|/:[a-z]|/[<{][a-z_:]+[>}]",
    re.I,
)
_DOTS = re.compile(rb"/(?:\.|%2e){1,2}/", re.I)
_WORDS = frozenset(
    b"all|any|allow|disallow|empty|everything|false|n/a|never|nil|no|none|nothing|null|off|on|true|yes|-".split(
        b"|"
    )
)


def check_rules(group: Group, effects: Effects, findings: Findings) -> None:
    """Check the paths of a group's rules."""
    for line in group.rules:
        if _STARS.fullmatch(line.value):
            whole = effects.of_crawler(group.crawler)
            effect = whole if findings.edition.wildcards else _NEVER
            findings.add(line, "RS310", "A star is not a path", effect)
        elif line.value and not (_PLAIN.fullmatch(line.value) and line.text.endswith(line.value)):
            _check_comment(line, group, effects, findings)
            _check_path(line, findings)


def _check_comment(line: Line, group: Group, effects: Effects, findings: Findings) -> None:
    """Text that is meant as a part of the path (FMT-07)."""
    words = f"reads {shown(line.value)}"
    if entity := _ENTITY.search(line.text):
        fault = f"URLs do not contain the HTML entity {shown(entity[0])}"
        findings.add(line, "RS316", fault, words)
    elif _FRAGMENT.search(line.text):
        claims: tuple[Claim, ...] = ()
        if line.value in EVERYTHING:
            whole, claims = effects.of_crawler(group.crawler)
            words += f" and {whole}"
        fault = "A # begins a comment, in a path too"
        findings.add(line, "RS315", fault, Effect(words, claims))


def _check_path(line: Line, findings: Findings) -> None:
    """Check a path that is not just a star."""
    path, edition = line.value, findings.edition
    unslashed = "puts a slash before it" if edition.slashless is Slashless.ASSUMED else _NEVER
    if found := odd_in_path(decode(path)):
        read = "compares it too" if path.startswith(b"/") else unslashed
        findings.add(line, "RS314", f"The path contains {found}", read)
    elif _OTHER_NOTATION.search(path):
        special = "* and a final $" if edition.wildcards else "no character"
        fault = "The path looks like a regular expression or a route"
        findings.add(line, "RS317", fault, f"reads {special} as special")
        return
    elif not path.startswith(b"/"):
        if path.startswith(b"*") and edition.slashless is Slashless.PATTERN:
            pass
        elif kind := _kind_of(path):
            findings.add(line, "RS311", f"{shown(path)} is {kind}, not a path", unslashed)
            return
        else:
            first = decode(path)[0]
            fault = "The path does not start with a slash"
            fault += "" if first.isascii() else f", but with {code_points(first)}"
            findings.add(line, "RS301", fault, unslashed)
    if _DOTS.search(path):
        fault = "Crawlers resolve dot segments before they send a URL"
        findings.add(line, "RS318", fault, "compares the path as written")
    _check_wildcards(line, findings)
    if _BROKEN_ESCAPE.search(path):
        findings.add(line, "RS308", "A percent sign starts no escape", "compares it as written")
    _check_raw(line, findings)


def _kind_of(path: bytes) -> str:
    """Text that is written instead of a path (RUL-04); empty for none."""
    if _URL.match(path):
        return "a URL"
    if _QUOTED.fullmatch(path):
        return "a quoted text"
    return "a word" if path.lower() in _WORDS else ""


def _check_wildcards(line: Line, findings: Findings) -> None:
    path, edition = line.value, findings.edition
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


def _check_raw(line: Line, findings: Findings) -> None:
    """Characters that clients escape in URLs (PAT-12)."""
    escapes = findings.edition.decode_unreserved
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
