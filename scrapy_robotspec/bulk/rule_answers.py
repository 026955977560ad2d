"""Answers that depend on rules alone, shared by all files.

Many groups are short, and the same in thousands of files, such as ``Disallow: /``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.extent import Extent, best_match, extent
from scrapy_robotspec.bulk.group_rules import read_group
from scrapy_robotspec.bulk.questions import ROOT
from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.fast.compiled import CompiledSelection, SharedRules
from scrapy_robotspec.protocol.precedence import NO_RULE, keyed_patterns

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
    """Precedence keys of ``/`` and of the other paths."""
    extent: Extent
    has_rules: bool

    def moved(self, offset: int) -> Answered:
        """The same answers for the same lines further down in a file."""
        keys = tuple(key + offset if 0 <= key < NO_RULE else key for key in self.keys)
        return Answered(keys, self.extent, self.has_rules)


class RuleAnswers:
    """Answers about ``/`` and some other paths, for many groups."""

    __slots__ = ("_edition", "_kept", "_urls")

    def __init__(self, paths: Sequence[str], edition: Edition) -> None:
        self._edition = edition
        self._urls = [_SITE + path for path in paths]
        self._kept: dict[bytes, Answered] = {}

    def find(self, body: bytes, spans: Spans) -> Answered:
        """The answers of the rules in some spans of a file."""
        if len(spans) != 2 or spans[1] - spans[0] > _KEPT_LENGTH:
            return self._answer(body, spans)
        begin, end = spans
        text = body[begin:end]
        found = self._kept.get(text)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[text] = self._answer(text, (0, len(text)))
        return found.moved(begin)

    def _answer(self, body: bytes, spans: Spans) -> Answered:
        group = read_group(body, spans, self._edition)
        wide = list(keyed_patterns(group.wide, self._edition)) if group.wide else []
        root = best_match(wide, ROOT)
        found = extent(group, wide)
        has_rules = bool(group.wide or group.allows or found == "some" or any(group.disallows()))
        return Answered((root, *self._other_keys(body, spans)), found, has_rules)

    def _other_keys(self, body: bytes, spans: Spans) -> Iterator[int]:
        if self._urls:
            find = fast.compile(body, self._edition).find_again
            selection = CompiledSelection((), SharedRules(spans))
            yield from (find(url, selection) for url in self._urls)
