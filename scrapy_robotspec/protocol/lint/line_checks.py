"""Checks of one line: form (FMT-04 to FMT-14), and other lines' values.

Sitemaps, crawl delays and licenses (SIT-03, EXT-01, USE-06).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK
from scrapy_robotspec.protocol.lint.crawlers import near
from scrapy_robotspec.protocol.lint.findings import Remark, shown
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line

#: Fields of usage preferences and licenses, which every edition reads (USE-08).
USAGE_FIELDS = frozenset({"content-signal", "content-usage", "license"})
#: Fields beyond the protocol that are in use (EXT-01, EXT-03).
_EXTENSIONS = frozenset({"clean-param", "crawl-delay", "host", "request-rate", "visit-time"})
_PROTOCOL = ("user-agent", "allow", "disallow", "sitemap")
#: Fields whose values need no equals sign.
_NO_EQUALS = (*_PROTOCOL, "crawl-delay")
_LONGEST_MISSPELLING = 16
#: Lines that every preset reads alike.
_USUAL = re.compile(rb"(?:(?:user-agent|disallow|allow): [!-\"$-\[\]-~]+|#[\t -~]*)?", re.I)
_USUAL_LENGTH = 2000
_TIGHT_COLON = re.compile(rb"[^:#]*:(?![ \t]|\Z)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_WRITTEN_LINE_END = re.compile(
    rb"\\[nr](?:\\[nr])*[ \t]*(?:user-agent|disallow|allow|sitemap)[ \t]*:", re.I
)
#: A byte order mark as text in UTF-8, from Latin-1, and a second one.
_ENCODED_MARKS = (b"\xc3\xaf\xc2\xbb\xc2\xbf", BYTE_ORDER_MARK)
_SEPARATORS = re.compile("[-_ \t.]")
#: Seconds. Bing documents 1 to 30 s, Majestic at most 30 s, Semrush at most 10 s.
LONGEST_DELAY = 30
_SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_LONGEST_NUMBER = 20


def _squeezed(name: str) -> str:
    return _SEPARATORS.sub("", name)


_NEAR = {
    neighbour: field
    for field in (*_NO_EQUALS, "content-signal", "content-usage")
    for neighbour in near(_squeezed(field))
}


@lru_cache(maxsize=1024)
def meant_field(name: str) -> str | None:
    """The field that a misspelled name most likely means, or None.

    Two names are near when they become equal by leaving out at most one letter of each.
    """
    if len(name) > _LONGEST_MISSPELLING:
        return None
    found = _NEAR.keys() & near(_squeezed(name))
    return _NEAR[min(found)] if found else None


def is_usual(text: bytes) -> bool:
    """Whether a line is common: no preset has remarks about its form."""
    return len(text) < _USUAL_LENGTH and _USUAL.fullmatch(text) is not None


def check_form(line: Line, edition: Edition, *, may_replace: bool) -> Iterator[Remark]:
    """Check the bytes, form and field of a line (FMT-06, FMT-11)."""
    name = edition.name
    yield from _check_bytes(line, edition)
    if line.name:
        if not _has_second_byte_order_mark(line):
            yield from _check_field(line, edition)
        yield from _check_colon(line, edition, may_replace)
    content = line.text.partition(b"#")[0].strip(edition.whitespace)
    if content and b":" not in content:
        read = "reads white space instead" if line.name else "ignores the line"
        yield Remark("RS101", f"The colon after the field is missing; {name} {read}.")
    elif content and not line.name:
        yield Remark("RS101", f"The field before the colon is missing; {name} ignores the line.")


def _check_colon(line: Line, edition: Edition, may_replace: bool) -> Iterator[Remark]:
    """Whether a space follows the colon (EXT-04)."""
    tight = _TIGHT_COLON.match(line.text) if line.field in _PROTOCOL and line.value else None
    if tight is None:
        return
    replacement = None
    if may_replace and line.text.isascii():
        replacement = decode(line.text[: tight.end()] + b" " + line.text[tight.end() :])
    yield Remark(
        "RS903",
        f"A space after the colon helps people to read the line; {edition.name} needs none.",
        replacement,
    )


def _check_bytes(line: Line, edition: Edition) -> Iterator[Remark]:
    """Check that a line is readable text (FMT-01, FMT-04, FMT-13)."""
    name, limit = edition.name, edition.max_line
    if _has_second_byte_order_mark(line):
        yield Remark("RS108", f"The byte order mark is encoded twice; {name} reads it as text.")
    if _WRITTEN_LINE_END.search(line.text):
        yield Remark("RS107", f"Line ends are written as text; {name} reads one line.")
    if limit is not None and len(line.text) > limit:
        yield Remark("RS105", f"The line is too long; {name} reads its first {limit} bytes.")
    if _CONTROL.search(line.text):
        ends = b"\0" in line.text and edition.nul_ends_line
        read = "ends the line there" if ends else "reads it as a part of the line"
        yield Remark("RS106", f"The line contains a control character; {name} {read}.")
    if not line.text.isascii():
        try:
            line.text.decode("utf-8")
        except UnicodeDecodeError:
            yield Remark(
                "RS104", f"The line is not UTF-8; {name} compares other bytes by their escapes."
            )


def _has_second_byte_order_mark(line: Line) -> bool:
    """Whether a first line begins with a byte order mark encoded twice."""
    return line.number == 1 and line.text.startswith(_ENCODED_MARKS)


def _check_field(line: Line, edition: Edition) -> Iterator[Remark]:
    """Whether the edition knows the field (FMT-08, FMT-10, FMT-14)."""
    name, written = edition.name, decode(line.name).lower()
    if line.field in _PROTOCOL:
        if written != line.field:
            yield Remark(
                "RS102", f'{shown(written)} is a misspelled "{line.field}"; {name} accepts it.'
            )
        elif line.field == "sitemap" and not edition.other_fields:
            yield Remark("RS103", f"{name} does not know sitemap lines and ignores this one.")
    elif written in USAGE_FIELDS:
        return
    elif written in _EXTENSIONS:
        if not edition.other_fields:
            yield Remark("RS103", f"{name} does not know {shown(written)} and ignores the line.")
    elif (meant := meant_field(written)) and (meant in _NO_EQUALS or b"=" in line.value):
        yield Remark(
            "RS102", f'{shown(written)} looks like "{meant}" misspelled; {name} ignores the line.'
        )
    else:
        yield Remark(
            "RS103", f"{shown(written)} is not a field of the protocol; {name} ignores the line."
        )


def check_other(line: Line, edition: Edition) -> Iterator[Remark]:
    """Check the value of a line that is not a rule."""
    name = edition.name
    if line.field == "license":
        if not is_absolute(decode(line.value)):
            yield Remark("RS404", f"A license needs an absolute URL; {name} does not offer it.")
    elif not edition.other_fields:
        return
    elif line.field == "sitemap":
        if not is_absolute(decode(line.value)):
            yield Remark("RS401", f"A sitemap needs an absolute URL; {name} does not offer it.")
    elif line.field == "crawl-delay":
        yield from _check_delay(line.value, name)


def _check_delay(value: bytes, name: str) -> Iterator[Remark]:
    if not _SECONDS.fullmatch(value):
        yield Remark("RS402", f"A crawl-delay is a number of seconds; {name} ignores this one.")
    elif len(value) > _LONGEST_NUMBER or float(value) > LONGEST_DELAY:
        yield Remark(
            "RS403",
            f"Crawlers accept at most {LONGEST_DELAY} s as a crawl-delay; {name} offers this one.",
        )
