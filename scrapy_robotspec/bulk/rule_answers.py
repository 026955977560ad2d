"""Answers that depend on rules alone, shared by all files.

Many groups are short, and the same in thousands of files, such as ``Disallow: /``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.extent import Extent, best_match, extent
from scrapy_robotspec.bulk.group_rules import read_group
from scrapy_robotspec.bulk.questions import ROOT
from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.fast.compiled import SharedRules
from scrapy_robotspec.protocol.lines import text_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.precedence import ITSELF, NO_RULE, keyed_patterns, line_start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Spans

#: Paths are asked about as parts of a URL, which is the quickest.
_SITE = "https://h"
#: Max length of the lines whose answers are kept (bytes), and max number of answers.
_KEPT_LENGTH = 512
_KEPT = 16_384


class Answered(NamedTuple):
    """The answers of one combination of groups."""

    keys: tuple[int, ...]
    """Precedence keys of ``/`` and of the other paths; offsets from the first byte of the rules."""
    rules: tuple[str | None, ...]
    """For each key the deciding line as written, if any."""
    extent: Extent
    has_rules: bool


class RuleAnswers:
    """Answers about ``/`` and some other paths, for many groups."""

    __slots__ = ("_edition", "_kept", "_urls")

    def __init__(self, paths: Sequence[str], edition: Edition) -> None:
        self._edition = edition
        self._urls = [_SITE + path for path in paths]
        self._kept: dict[bytes, Answered] = {}

    def find(self, body: bytes, spans: Spans) -> tuple[int, Answered]:
        """The answers of some spans, and where their rules begin."""
        if len(spans) != 2 or spans[1] - spans[0] > _KEPT_LENGTH:
            return 0, self._answer(body, spans)
        begin, end = spans
        text = body[begin:end]
        found = self._kept.get(text)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[text] = self._answer(text, (0, len(text)))
        return begin, found

    def _answer(self, body: bytes, spans: Spans) -> Answered:
        group = read_group(body, spans, self._edition)
        wide = list(keyed_patterns(group.wide, self._edition)) if group.wide else []
        keys = (best_match(wide, ROOT), *self._other_keys(body, spans))
        rules = tuple([_line_of(key, body) for key in keys])
        found = extent(group, wide)
        has_rules = bool(group.wide or group.allows or found == "some" or any(group.disallows()))
        return Answered(keys, rules, found, has_rules)

    def _other_keys(self, body: bytes, spans: Spans) -> Iterator[int]:
        if self._urls:
            find = fast.compile(body, self._edition).find_again
            rules = SharedRules(spans)
            yield from (find(url, rules) for url in self._urls)


def _line_of(key: int, body: bytes) -> str | None:
    """The line of a key's rule, as written."""
    return None if key in (NO_RULE, ITSELF) else decode(text_at(body, line_start(key)))
