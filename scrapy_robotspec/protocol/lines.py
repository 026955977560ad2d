"""Numbered lines of a file, as field and value (FMT-01 to FMT-16).

Google's matcher has leniencies that no specification has (REF): a field of the edition guards each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.models import Kind, Rule, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.editions import Edition

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PARTIAL_MARK = re.compile(b"(?:\xef\xbb?)?").match

#: RFC 9309 section 2.2: EOL = *WS [comment] NL. A comment ends a value by its first character, and
#: so does the end of the file (FMT-12).
_ends_value = re.compile(rb"[ \t]*(?:[\r\n#]|\Z)").match

#: No specification has a grammar for a delay (EXT-01): decimal digits, with a point or without, no
#: sign and no exponent.
SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")

#: In place of RFC 9309's *WS ":" *WS: 1*WS, where the line has two words and no colon (FMT-11).
#: Only SP and HTAB part them, though more is stripped around them.
_TWO_WORDS = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")

_text = re.compile(rb"[^\r\n]*").match

#: A line's field and value, both stripped (FMT-06).
Pair = tuple[bytes, bytes]
_INVALID: Pair = (b"", b"")
#: An allow or disallow line: whether it allows, its value, the offset of its line in the file.
RawRule = tuple[bool, bytes, int]


class Line(NamedTuple):
    """One line of a file, valid or not."""

    number: int
    """From 1, in the part that is read."""
    start: int
    """Offset of the line's first byte in the file."""
    text: bytes
    """As written, without the line end."""
    name: bytes
    """The field as written; empty where the line has none."""
    field: str
    """One of the known fields, else the name in lower case; ``""`` for an invalid line."""
    value: bytes


#: Makes a line without a call of Python, in which a seventh of the time of reading would go.
_new = tuple.__new__


def part_in_words(body: bytes) -> str:
    """The part of a longer file that is read, *body*."""
    return f"its first {len(body):,} bytes" if body else "nothing of it"


def cut_to_limit(body: bytes, limit: int) -> bytes:
    """A longer body without lines whose values exceed ``limit`` bytes (FMT-12)."""
    start = 1 + max(body.rfind(b"\n", 0, limit), body.rfind(b"\r", 0, limit))
    comment = body.find(b"#", start, limit)
    if comment >= 0:
        return body[:comment]
    return body[: limit if _ends_value(body, limit) else start]


def skip_byte_order_mark(body: bytes, edition: Edition) -> int:
    """Length of the byte order mark that the file starts with (FMT-05)."""
    if body.startswith(BYTE_ORDER_MARK):
        return len(BYTE_ORDER_MARK)
    return len(_PARTIAL_MARK(body)[0]) if edition.partial_bom else 0  # type: ignore[index]


def read_lines(body: bytes, edition: Edition, *, every: bool = False) -> Iterator[Line]:
    """The lines with a field, and blank ones that end groups.

    FMT-02, FMT-15. *every*: comments, blank and invalid lines too (FMT-03). Blank lines after a
    blank one are left out.
    """
    fields: dict[bytes, str] = {}  # by names as written
    begin = skip_byte_order_mark(body, edition)
    blank = edition.whitespace + b"\r\n"
    skips_blank = not (every or edition.blank_line_ends_group)
    is_blank = False
    # In bytes, splitlines ends a line at CR, LF and CR LF only (FMT-02); of str at many more.
    for number, raw in enumerate(body[begin:].splitlines(keepends=True), 1):  # hot path
        start, begin = begin, begin + len(raw)
        if not every and raw.startswith(b"#"):
            continue
        was_blank, is_blank = is_blank, not raw.strip(blank)
        if is_blank and (was_blank or skips_blank):
            continue
        text = raw.rstrip(b"\r\n")
        pair = split_line(text, edition)
        if pair is None and not (every or is_blank):
            continue
        name, value = pair or _INVALID
        field = fields.get(name)
        if field is None:
            field = fields[name] = field_for(name, edition)
        yield _new(Line, (number, start, text, name, field, value))


def split_line(text: bytes, edition: Edition) -> Pair | None:
    """Field and value of a line; None if invalid (FMT-06)."""
    if edition.max_line is not None or edition.nul_ends_line:  # FMT-13
        text = text[: edition.max_line]
        text = text.partition(b"\0")[0] if edition.nul_ends_line else text
    white = edition.whitespace
    content = text.partition(b"#")[0].strip(white)
    name, colon, value = content.partition(b":")
    if not colon:
        words = _TWO_WORDS.fullmatch(content) if edition.missing_colon else None
        return (words[1].rstrip(white), words[2].lstrip(white)) if words else None
    name = name.rstrip(white)
    return (name, value.lstrip(white)) if name else None


def field_for(name: bytes, edition: Edition) -> str:
    """The known field for a name, else it in lower case.

    FMT-08, FMT-10, FMT-14.
    """
    lowered = name.lower()
    for spelling, field in edition.known_fields:
        if lowered == spelling or (edition.fields_by_prefix and lowered.startswith(spelling)):
            return field
    return decode(lowered)


def line_ends(body: bytes, begin: int, end: int) -> int:
    """Number of line ends between two offsets.

    *end* is the start of a line.
    """
    returns = body.count(b"\r", begin, end)
    both = body.count(b"\r\n", begin, end) if returns else 0
    return body.count(b"\n", begin, end) + returns - both


def begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in b" \t":
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def lines_at(body: bytes, starts: Iterable[int], edition: Edition) -> Iterator[Line]:
    """The lines that begin at some offsets, which are in order."""
    number, begin = 1, 0
    for start in starts:
        number, begin = number + line_ends(body, begin, start), start
        text = _text(body, start)[0]  # type: ignore[index]  # may be empty
        name, value = split_line(text, edition) or _INVALID
        yield Line(number, start, text, name, field_for(name, edition), value)


def raw_rules(lines: Iterable[Line]) -> list[RawRule]:
    """The rules on some lines."""
    return [(line.field == "allow", line.value, line.start) for line in lines]


def rules_at(body: bytes, starts: Iterable[int], edition: Edition) -> dict[int, Rule]:
    """The rules whose lines begin at some offsets."""
    return {line.start: rule_of(line) for line in lines_at(body, sorted(starts), edition)}


def rule_of(line: Line) -> Rule:
    """The rule on a line."""
    kind: Kind = "allow" if line.field == "allow" else "disallow"
    return Rule(kind, decode(line.value), line.number, decode(line.text))
