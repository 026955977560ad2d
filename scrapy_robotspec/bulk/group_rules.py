"""The rules of a group that decide about the whole site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agent_index import has_plain_lines, rule_around, rules_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Spans
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
    first: Sequence[RawRule]
    """The rules that are read already."""
    rest: Spans
    """Where the others are."""
    wide: Sequence[RawRule]
    """Rules that may match ``/``. Rules that match every path are among them."""
    allows: Sequence[RawRule]

    @property
    def text(self) -> bytes:
        """The lines of the rules."""
        return b"\n".join(self.body[begin:end] for begin, end in _pairs(self.spans))

    def disallows(self) -> Iterator[RawRule]:
        """The rules that do not allow, read on demand."""
        rules, rest, step = self.first, self.rest, _STEP
        while rules or rest:
            yield from (rule for rule in rules if not rule[0])
            rules, rest = _read_some(self.body, rest, step, self.edition)
            step *= 2


def read_group(body: bytes, spans: Spans, edition: Edition) -> GroupRules:
    """The rules in some spans of a file."""
    if has_plain_lines(edition):
        first, rest = _read_some(body, spans, _STEP, edition)
        rules = [*first, *(rule for part in _pairs(rest) for rule in _decisive(body, *part))]
    else:
        first, rest = rules_in(body, spans, edition), ()
        rules = first
    allows = [rule for rule in rules if rule[0]]
    wide = [rule for rule in rules if not rule[1].strip(_WIDE)]
    if edition.index_html:
        wide += allows  # an index page may open the root (PRE-05)
    return GroupRules(body, spans, edition, first, rest, wide, allows)


def _read_some(
    body: bytes, spans: Spans, size: int, edition: Edition
) -> tuple[Sequence[RawRule], Spans]:
    """The rules of about the first ``size`` bytes of the first span, and where the others are."""
    if not spans:
        return (), ()
    begin, end, *others = spans
    line_end = _LINE_END(body, begin + size, end)
    if line_end:
        end = line_end.end()
        others = [end, spans[1], *others]
    return rules_in(body, (begin, end), edition), tuple(others)


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
