"""Answers that depend on rules alone, shared by all files.

Many groups are the same in thousands of files: ``Disallow: /``, or what a shop system writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.extent import Extent, best_match, extent
from scrapy_robotspec.bulk.group_rules import read_group
from scrapy_robotspec.bulk.questions import ROOT
from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.lines import text_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, keyed_patterns, line_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Spans

#: Paths are asked about as parts of a URL, which is the quickest.
_SITE = "https://h"
#: Max length of the text of a line in the output (characters): each row and path repeats it.
MAX_TEXT = 2000
#: Max length of the lines whose answers are kept, and of all of them (bytes).
_KEPT_LENGTH = 4096
_KEPT = 16 * 1024 * 1024
#: Size of an answer besides its lines, roughly (bytes).
_ANSWER = 512


class Line(NamedTuple):
    """A line that decides."""

    start: int
    """Offset from the first byte of the rules."""
    text: str
    """As written, at most ``MAX_TEXT`` characters."""


class Answered(NamedTuple):
    """The answers of one combination of groups."""

    keys: Sequence[int]
    """Precedence keys of ``/`` and of the other paths."""
    lines: Sequence[Line | None]
    """For each key the deciding line, if any."""
    extent: Extent
    has_rules: bool


class RuleAnswers:
    """Answers about ``/`` and some other paths, for many groups."""

    __slots__ = ("_edition", "_kept", "_room", "_urls")

    def __init__(self, paths: Sequence[str], edition: Edition) -> None:
        self._edition = edition
        self._urls = [_SITE + path for path in paths]
        self._kept: dict[bytes, Answered] = {}
        self._room = _KEPT

    def find(self, body: bytes, spans: Spans) -> tuple[int, Answered]:
        """The answers of some spans, and where their rules begin."""
        if len(spans) != 2 or spans[1] - spans[0] > _KEPT_LENGTH:
            return 0, self._answer(body, spans)
        begin, end = spans
        text = body[begin:end]
        found = self._kept.get(text)
        if found is None:
            found = self._answer(text, (0, len(text)))
            self._keep(text, found)
        return begin, found

    def _keep(self, text: bytes, answered: Answered) -> None:
        self._room -= len(text) + _ANSWER * len(answered.keys)
        if self._room < 0:
            self._kept.clear()
            self._room = _KEPT
        self._kept[text] = answered

    def _answer(self, body: bytes, spans: Spans) -> Answered:
        group = read_group(body, spans, self._edition)
        wide = list(keyed_patterns(group.wide, self._edition)) if group.wide else []
        keys = (best_match(wide, ROOT), *self._other_keys(body, spans))
        lines = [_line_of(key, body) for key in keys]
        found = extent(group, wide)
        has_rules = bool(group.wide or group.allows or found == "some" or any(group.disallows()))
        return Answered(keys, lines, found, has_rules)

    def _other_keys(self, body: bytes, spans: Spans) -> Sequence[int]:
        return fast.compile(body, self._edition).find_all(self._urls, spans) if self._urls else ()


def _line_of(key: int, body: bytes) -> Line | None:
    if key in (NO_RULE, ITSELF):
        return None
    start = line_start(key)
    return Line(start, decode(text_at(body, start))[:MAX_TEXT])
