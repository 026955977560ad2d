"""Lines with a delay or usage preferences, by groups (EXT-01, USE-01)."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agent_index import find_rule, has_plain_lines
from scrapy_robotspec.protocol.groups import RawOther, read_groups
from scrapy_robotspec.protocol.lines import LineReader
from scrapy_robotspec.protocol.usage import USAGE_FIELDS
from scrapy_robotspec.protocol.usage_rules import usage_edition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.bulk.crawlers import Followed
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Spans
    from scrapy_robotspec.protocol.groups import RawGroup

_AGENT = b"user-agent"
_WANTED = (b"crawl-delay", *(field.encode() for field in USAGE_FIELDS))
_LINE_END = re.compile(rb"[\r\n]|\Z").search


class OtherLines:
    """The lines of a file with a crawl delay or usage preferences."""

    def __init__(self, body: bytes, edition: Edition, lowered: bytes) -> None:
        self._body = body
        self._edition = edition
        self._lowered = lowered

    def find(self, followed: Followed, spans: Spans) -> Sequence[RawOther]:
        """The lines of the groups with some keys and spans, in order."""
        if self._in_spans is None:
            return self._find_in_groups(followed)
        starts, lines = self._in_spans
        return [
            line
            for begin, end in zip(spans[::2], spans[1::2], strict=True)
            for line in lines[bisect_left(starts, begin) : bisect_left(starts, end)]
        ]

    @cached_property
    def _in_spans(self) -> tuple[list[int], list[RawOther]] | None:
        """The lines and their offsets; None if spans do not suffice.

        A line between the agents of a group holds only for those above it, whatever the spans.
        """
        if not has_plain_lines(self._edition):
            return None
        lines: list[RawOther] = []
        lowered = self._lowered
        agent = end = 0
        among_agents = False  # unless a rule comes before the next agent
        for at, text in _places(lowered):
            if text == _AGENT:
                if among_agents and not find_rule(lowered, agent, at):
                    return None
                agent, among_agents = at, False
            elif at >= end:
                line, end = self._line_at(at, end)
                lines += line
                among_agents = True
        return [line.start for line in lines], lines

    def _line_at(self, at: int, begin: int) -> tuple[Sequence[RawOther], int]:
        """The line around an offset, if it is valid, and its end."""
        body = self._body
        start = max(begin, 1 + body.rfind(b"\n", begin, at), 1 + body.rfind(b"\r", begin, at))
        end = _LINE_END(body, at).start()  # type: ignore[union-attr]  # always found
        lines = LineReader(self._edition).read(body, start, end)
        return [RawOther(line.field, line.value, start, 0) for line in lines if line.field], end

    def _find_in_groups(self, followed: Followed) -> Sequence[RawOther]:
        wanted = set(followed)
        places = {at for key in wanted for at in self._with_others.get(key, ())}
        return [
            line
            for at in sorted(places)
            for line in self._groups[at].others_for(wanted, self._edition)
        ]

    @cached_property
    def _groups(self) -> list[RawGroup]:
        """The groups, up to the last of the lines where what follows cannot change their agents."""
        end = len(self._body)
        if has_plain_lines(self._edition):
            last = max(map(self._lowered.rfind, _WANTED))
            end = _LINE_END(self._body, last).start()  # type: ignore[union-attr]  # always found
        return read_groups(self._body[:end], usage_edition(self._edition))

    @cached_property
    def _with_others(self) -> Mapping[str, Sequence[int]]:
        """The groups with other lines, by the keys of their agents."""
        found: dict[str, list[int]] = {}
        for at, group in enumerate(self._groups):
            for key in group.keys(self._edition) if group.others else ():
                found.setdefault(key, []).append(at)
        return found


def _places(lowered: bytes) -> list[tuple[int, bytes]]:
    """Where a file has the text of a wanted field, or of a user-agent line."""
    return sorted((at, text) for text in (_AGENT, *_WANTED) for at in _find_all(text, lowered))


def _find_all(text: bytes, body: bytes) -> Iterator[int]:
    at = body.find(text)
    while at >= 0:
        yield at
        at = body.find(text, at + 1)
