"""Answers that depend on rules alone, shared by all files.

Many groups are short, and the same in thousands of files, such as ``Disallow: /``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.extent import Extent, extent
from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.fast.compiled import CompiledSelection, SharedRules
from scrapy_robotspec.protocol.fast.index import rules_in
from scrapy_robotspec.protocol.precedence import NO_RULE, forbids

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Spans
    from scrapy_robotspec.protocol.groups import RawRule

#: Paths are asked about as parts of a URL, which is the quickest.
_SITE = "https://h"
#: Max length of the lines whose answers are kept (bytes), and max number of answers.
_KEPT_LENGTH = 512
_KEPT = 16_384
#: Bytes that are read of a long group at a time.
_STEP = 128
_LINE_END = re.compile(rb"[\r\n]").search


class Answered(NamedTuple):
    """The answers of one combination of groups."""

    keys: tuple[int, ...]
    """Precedence keys of the paths."""
    extent: Extent
    has_rules: bool

    def moved(self, offset: int) -> Answered:
        """The same answers for the same lines further down in a file."""
        keys = tuple(key + offset if 0 <= key < NO_RULE else key for key in self.keys)
        return Answered(keys, self.extent, self.has_rules)


class RuleAnswers:
    """Answers about some paths, ``/`` first, for many groups."""

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
        find = fast.compile(body, self._edition).find_again
        selection = CompiledSelection((), SharedRules(spans))
        keys = tuple(find(url, selection) for url in self._urls)
        text = b"\n".join(body[begin:end] for begin, end in _pairs(spans))

        def allowed(path: str) -> bool:
            return not forbids(find(_SITE + path, selection))

        found = extent(
            _rules(body, spans, self._edition),
            allowed,
            self._edition,
            text,
            open_root=keys[0] == NO_RULE,
        )
        has_rules = found != "allows all" or any(_rules(body, spans, self._edition))
        return Answered(keys, found, has_rules)


def _pairs(spans: Spans) -> Iterator[tuple[int, int]]:
    return zip(spans[::2], spans[1::2], strict=True)


def _rules(body: bytes, spans: Spans, edition: Edition) -> Iterator[RawRule]:
    """The rules of some spans, a few lines at a time: the first ones mostly decide."""
    for begin, end in _pairs(spans):
        while begin < end:
            line_end = _LINE_END(body, min(begin + _STEP, end), end)
            stop = line_end.end() if line_end else end
            yield from rules_in(body, (begin, stop), edition)
            begin = stop
