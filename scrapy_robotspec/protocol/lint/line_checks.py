"""Checks of one line: form (FMT-04 to FMT-14), and other lines' values.

Sitemaps, crawl delays and licenses (SIT-03, EXT-01, USE-06).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK
from scrapy_robotspec.protocol.lint.characters import (
    as_intended,
    code_points,
    kind_of,
    kinds,
    odd,
)
from scrapy_robotspec.protocol.lint.codes import read_data
from scrapy_robotspec.protocol.lint.crawlers import near_table, nearest
from scrapy_robotspec.protocol.lint.findings import shown
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Faults, Findings

#: Fields of usage preferences and licenses, which every edition reads (USE-08).
USAGE_FIELDS = frozenset({"content-signal", "content-usage", "license"})
#: Fields beyond the protocol that are in use (SIT-01, EXT-01, EXT-03).
_EXTENSIONS = frozenset(
    {"clean-param", "crawl-delay", "host", "request-rate", "sitemap", "visit-time"}
)
_PROTOCOL = ("user-agent", "allow", "disallow", "sitemap")
_KNOWN = frozenset({*_PROTOCOL, *_EXTENSIONS, *USAGE_FIELDS})
#: Fields whose values need no equals sign.
_NO_EQUALS = (*_PROTOCOL, "crawl-delay")
_IGNORES = "ignores the line"
_LONGEST_MISSPELLING = 16
#: A line in which there is nothing else to check.
_PLAIN = re.compile(
    rb"[ \t]*(?:user-agent|allow|disallow)[ \t]*:[\t -9;-\[\]-~]{0,9999}\Z|\Z", re.I
)
_TIGHT_COLON = re.compile(rb"[^:#]*:(?![ \t]|\Z)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_SECOND_FIELD = re.compile(
    rb"(?:\A|\\[nr]|[ \t,;])(?:user-agent|disallow|allow|sitemap)[ \t]*:", re.I
)
#: A byte order mark as text in UTF-8, from Latin-1, and a second one.
_ENCODED_MARKS = (b"\xc3\xaf\xc2\xbb\xc2\xbf", BYTE_ORDER_MARK)
#: Seconds. Bing documents 1 to 30 s, Majestic at most 30 s, Semrush at most 10 s.
LONGEST_DELAY = 30
_SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")

#: Lines of other languages.
_FOREIGN = kinds(read_data("patterns.json")["lines"])

_NEAR = near_table((*_NO_EQUALS, "content-signal", "content-usage"))


def intended_field(name: str, value: bytes) -> str | None:
    """The field that a misspelled name most likely means, or None."""
    field = nearest(name, _NEAR) if len(name) <= _LONGEST_MISSPELLING else None
    return field if field in _NO_EQUALS or b"=" in value else None


def is_plain(line: Line) -> bool:
    """Whether there is nothing to check in the form of a line."""
    return _PLAIN.match(line.text) is not None


def check_colon(line: Line, findings: Findings, *, may_replace: bool) -> None:
    """Check that a space follows the colon (EXT-04)."""
    if line.field not in _PROTOCOL or not line.value:
        return
    tight = _TIGHT_COLON.match(line.text)
    if tight is None:
        return
    replacement = None
    if may_replace and line.text.isascii():
        replacement = decode(line.text[: tight.end()] + b" " + line.text[tight.end() :])
    fault = "A space after the colon helps people to read the line"
    findings.add(line, "RS903", fault, "needs none", replacement)


def check_form(line: Line, edition: Edition) -> Faults:
    """Check the bytes, form and field of a line (FMT-06, FMT-11)."""
    yield from _check_bytes(line, edition)
    content = decode(line.text.partition(b"#")[0]).strip(" \t")
    if content:
        yield from _check_field(line, content, edition)


def _check_bytes(line: Line, edition: Edition) -> Faults:
    """Check that a line is readable text (FMT-01, FMT-04, FMT-13)."""
    limit = edition.max_line
    if limit is not None and len(line.text) > limit:
        yield line, "RS105", "The line is too long", f"reads its first {limit} bytes"
    if _SECOND_FIELD.search(line.value):
        yield line, "RS107", "Two lines stand on one", "reads one line"
    if _CONTROL.search(line.text):
        ends = b"\0" in line.text and edition.nul_ends_line
        read = "ends the line there" if ends else "reads it as a part of the line"
        yield line, "RS106", "The line contains a control character", read
    try:
        line.text.decode("utf-8")
    except UnicodeDecodeError:
        yield line, "RS104", "The line is not UTF-8", "compares other bytes by their escapes"


def _check_field(line: Line, content: str, edition: Edition) -> Faults:
    """Check that the edition knows the field (FMT-08, FMT-10, FMT-11, FMT-14)."""
    written = decode(line.name).lower()
    first, _, rest = written.partition(" ")
    read = f"reads {shown(line.value)}" if line.field in _KNOWN else _IGNORES
    found = "" if line.field in ("allow", "disallow") else odd(content)
    intended = as_intended(content).partition(":")[0].strip().lower()
    foreign = "" if line.field in _KNOWN else kind_of(content, _FOREIGN)
    if line.number == 1 and line.text.startswith(_ENCODED_MARKS):
        yield line, "RS108", "The byte order mark is encoded twice", "reads it as text"
    elif found and (intended in _KNOWN or line.field in _KNOWN):
        yield line, "RS109", f"The line contains {found}", read
    elif foreign:
        yield line, "RS110", f"The line is {foreign}, and a comment begins with #", _IGNORES
    elif ":" not in content or not written:
        part = "colon after the field" if ":" not in content else "field before the colon"
        read = "reads white space instead" if line.name else _IGNORES
        yield line, "RS101", f"The {part} is missing", read
    elif rest and first in _KNOWN:
        yield line, "RS101", f"The colon after {shown(first)} is missing", read
    elif line.field in _PROTOCOL and written != line.field:
        yield line, "RS102", f'{shown(written)} is a misspelled "{line.field}"', "accepts it"
    elif written in _KNOWN and (edition.other_fields or written not in _EXTENSIONS):
        return
    elif written not in _KNOWN and (field := intended_field(written, line.value)):
        other = code_points(each for each in written if not each.isascii())
        fault = f'{shown(written)} looks like "{field}" misspelled'
        yield line, "RS102", f"{fault} with {other}" if other else fault, _IGNORES
    else:
        yield line, "RS103", f"{shown(written)} is not a field of the protocol", _IGNORES


def check_other(line: Line, edition: Edition) -> Faults:
    """Check the value of a line that is not a rule."""
    needs_url = line.field == "license" or (line.field == "sitemap" and edition.other_fields)
    if needs_url and not is_absolute(decode(line.value)):
        if line.field == "license":
            yield line, "RS404", "A license needs an absolute URL", "does not offer it"
        else:
            is_path = line.value.startswith(b"/")
            read = "resolves it where the site is known" if is_path else "does not offer it"
            yield line, "RS401", "A sitemap needs an absolute URL", read
    elif line.field == "crawl-delay" and edition.other_fields:
        if not _SECONDS.fullmatch(line.value):
            yield line, "RS402", "A crawl-delay is a number of seconds", "ignores this one"
        elif float(line.value) > LONGEST_DELAY:
            fault = f"Crawlers accept at most {LONGEST_DELAY} s as a crawl-delay"
            yield line, "RS403", fault, "accepts it"
