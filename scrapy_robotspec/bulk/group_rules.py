"""The rules of a group that decide about the whole site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.fast.index import has_plain_lines, rule_around, rules_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Spans
    from scrapy_robotspec.protocol.groups import RawRule

#: Bytes of a wide value: nothing but a slash, stars and an anchor.
_WIDE = b"/*$"
#: The colon of a rule, except one that disallows and has no wide value.
_DECISIVE = re.compile(
    rb":(?<=[wW \t]:)(?:(?<!sallow:)(?<!SALLOW:)|(?![ \t]*[/*$]*[^ \t\r\n#*/$]))"
).finditer
#: Bytes of a group that are read first, because the first rules mostly decide.
_STEP = 128
_LINE_END = re.compile(rb"[\r\n]").search


class GroupRules(NamedTuple):
    """The rules in some spans of a file."""

    body: bytes
    spans: Spans
    edition: Edition
    wide: Sequence[RawRule]
    """Those that may match ``/``. Rules that match every path are among them."""
    allows: Sequence[RawRule]

    @property
    def text(self) -> bytes:
        """The lines of the rules."""
        return b"\n".join(self.body[begin:end] for begin, end in _pairs(self.spans))

    def disallows(self) -> Iterator[RawRule]:
        """The rules that do not allow, read on demand."""
        step = _STEP
        for begin, end in _pairs(self.spans):
            while begin < end:
                line_end = _LINE_END(self.body, min(begin + step, end), end)
                stop = line_end.end() if line_end else end
                for rule in rules_in(self.body, (begin, stop), self.edition):
                    if not rule[0]:
                        yield rule
                begin = stop
                step *= 2


def read_group(body: bytes, spans: Spans, edition: Edition) -> GroupRules:
    """The rules in some spans of a file."""
    if has_plain_lines(edition):
        rules = [rule for begin, end in _pairs(spans) for rule in _decisive(body, begin, end)]
    else:
        rules = rules_in(body, spans, edition)
    allows = [rule for rule in rules if rule[0]]
    wide = [rule for rule in rules if not rule[1].strip(_WIDE)]
    if edition.index_html:
        wide += allows  # an index page may open the root (PRE-05)
    return GroupRules(body, spans, edition, wide, allows)


def _decisive(body: bytes, begin: int, end: int) -> Iterator[RawRule]:
    """The rules that allow or may match ``/``; passes over most others."""
    for match in _DECISIVE(body, begin, end):
        colon = match.start()
        rule = rule_around(body, begin, colon, end)
        if rule is not None:
            yield rule
        begin = colon  # no byte is searched twice for a line end


def _pairs(spans: Spans) -> Iterator[tuple[int, int]]:
    return zip(spans[::2], spans[1::2], strict=True)
