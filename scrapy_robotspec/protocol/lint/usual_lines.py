"""Reads lines, and finds those that are not in the usual form.

Usual is a field in its own spelling, a colon, a blank, and printable ASCII without blanks; a
comment in printable ASCII; a blank line. No check of the form has a remark about it, and every
preset reads it alike, a sitemap line in ``classic`` aside.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import count, repeat
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.lines import (
    Line,
    field_reader,
    meaning,
    skip_byte_order_mark,
    split_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition

_FIELDS = ("user-agent", "disallow", "allow", "sitemap")
#: Max length of a usual line (bytes).
_LONGEST = 2000
#: Bytes that every edition strips, and all that a preset strips.
_STRIPPED = (frozenset(b" \t"), frozenset(b" \t\n\v\f\r"))
#: Bytes that are read at a time, and the rest of their last line; bounds memory.
_STEP = 1 << 14
_LINE_END = re.compile(rb"\r\n?|\n").search
_new_line = partial(tuple.__new__, Line)


class SomeLines(NamedTuple):
    """Lines that follow one another."""

    lines: Sequence[Line]
    unusual: Sequence[Line]
    """The lines that are not in the usual form."""


def read_some_lines(body: bytes, edition: Edition) -> Iterator[SomeLines]:
    """The lines of a file, some thousands at a time.

    They are those of :func:`~scrapy_robotspec.protocol.lines.read_lines`, but ``start`` is that of
    the first line.
    """
    first = start = skip_byte_order_mark(body, edition)
    find_all, field_of = usual_form(edition).findall, field_reader(edition)
    number = 1
    while start < len(body):
        line_end = _LINE_END(body, start + _STEP)
        stop = line_end.end() if line_end else len(body)
        texts, names, values, others, _ = map(list, zip(*find_all(body, start, stop), strict=True))
        del texts[-1]  # an empty text after the last line end
        unusual = [at for at, text in enumerate(others) if text]
        for at in unusual:
            texts[at] = others[at]
            names[at], values[at] = split_line(texts[at], edition) or (b"", b"")
        fields = map(field_of, names)
        columns = zip(count(number), repeat(first), texts, names, fields, values)
        lines: list[Line] = list(map(_new_line, columns))  # hot path
        yield SomeLines(lines, [lines[at] for at in unusual])
        start, number = stop, number + len(lines)


@lru_cache(maxsize=32)
def usual_form(edition: Edition) -> re.Pattern[bytes]:
    """Matches each line of a file, usual or not.

    Groups: text, field and value of a usual line; text of another one; line end.
    """
    least, most = _STRIPPED
    if not least <= set(edition.whitespace) <= most or (edition.max_line or _LONGEST) < _LONGEST:
        return re.compile(rb"()()()([^\r\n]*)(\r\n?|\n|\Z)")
    fields = [
        field
        for field in _FIELDS
        if meaning(field.encode(), edition) == field
        and (field != "sitemap" or edition.other_fields)
    ]
    names = "|".join(fields or ["(?!)"]).encode()
    field = rb"(" + names + rb"):[ \t]{1,20}([!-\"$-~]{1,1900})[ \t]{0,20}"
    usual = rb"([ \t]{0,20}(?:" + field + rb"|#[\t -~]{0,1900})?)(?=[\r\n]|\Z)"
    return re.compile(rb"(?:" + usual + rb"|([^\r\n]*))(\r\n?|\n|\Z)", re.IGNORECASE)
