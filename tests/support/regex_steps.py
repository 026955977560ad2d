"""Steps of a backtracking regular expression engine, as CPython's takes them, counted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

if sys.version_info >= (3, 11):
    parser: Any = import_module("re._parser")
else:
    parser = import_module("sre_parse")
codes: Any = parser

#: Continues a match behind an index; whether that succeeds.
_Next = Callable[[int], bool]
_DEEP = 200_000


class StepCounter:
    """Matches text by a pattern, and counts the characters that are compared."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern
        self._is_dot_all = bool(pattern.flags & re.DOTALL)
        self._tree: Any = parser.parse(text, pattern.flags & ~re.UNICODE & ~re.ASCII)
        self._chars: dict[int, re.Pattern[str]] = {}
        self.steps = 0

    def match(self, text: str, start: int = 0, whole: bool = False) -> bool:
        """Whether the pattern matches at *start*."""
        end = (lambda at: at == len(text)) if whole else (lambda at: True)
        with _deep():
            return self._sequence(list(self._tree), 0, text, start, end)

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere."""
        return any(self.match(text, start) for start in range(len(text) + 1))

    def _sequence(self, items: list[Any], number: int, text: str, at: int, then: _Next) -> bool:
        if number == len(items):
            return then(at)
        return self._item(
            items[number],
            text,
            at,
            lambda end: self._sequence(items, number + 1, text, end, then),
        )

    def _item(self, item: Any, text: str, at: int, then: _Next) -> bool:
        self.steps += 1
        code, value = item
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeat(code is codes.MIN_REPEAT, value, text, at, then)
        if code is codes.SUBPATTERN:
            return self._sequence(list(value[-1]), 0, text, at, then)
        if code is codes.BRANCH:
            return any(self._sequence(list(each), 0, text, at, then) for each in value[1])
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            assert value[0] == 1, "looks back"
            found = self._sequence(list(value[1]), 0, text, at, lambda _: True)
            return then(at) if found is bool(code is codes.ASSERT) else False
        if code is codes.AT:
            is_end = value in (codes.AT_END, codes.AT_END_STRING)
            return then(at) if at == (len(text) if is_end else 0) else False
        return at < len(text) and self._is_char(item, text[at]) and then(at + 1)

    def _repeat(self, is_lazy: bool, value: Any, text: str, at: int, then: _Next) -> bool:
        least, most, items = int(value[0]), int(value[1]), list(value[2])
        single = len(items) == 1 and items[0][0] in _SINGLE
        if not single:
            return self._group(is_lazy, least, most, items, text, at, then)
        end, limit = at, min(len(text), at + most)
        if is_lazy:
            while True:
                self.steps += 1
                if end - at >= least and then(end):
                    return True
                if end >= limit or not self._is_char(items[0], text[end]):
                    return False
                end += 1
        while end < limit and self._is_char(items[0], text[end]):
            self.steps += 1
            end += 1
        for last in range(end, at + least - 1, -1):
            self.steps += 1
            if then(last):
                return True
        return False

    def _group(
        self,
        is_lazy: bool,
        least: int,
        most: int,
        items: list[Any],
        text: str,
        at: int,
        then: _Next,
    ) -> bool:
        def more(end: int) -> bool:
            if end == at and least <= 0:  # an empty round ends it
                return False
            return self._group(is_lazy, least - 1, most - 1, items, text, end, then)

        def once() -> bool:
            return most > 0 and self._sequence(items, 0, text, at, more)

        if is_lazy:
            return (least <= 0 and then(at)) or once()
        return once() or (least <= 0 and then(at))

    def _is_char(self, item: Any, char: str) -> bool:
        code, value = item
        if code is codes.LITERAL:
            return bool(ord(char) == value)
        if code is codes.NOT_LITERAL:
            return bool(ord(char) != value)
        if code is codes.ANY:
            return self._is_dot_all or char != "\n"
        return any(map(_in_class(char), value)) is not (value[0][0] is codes.NEGATE)


_SINGLE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_CATEGORIES = {
    codes.CATEGORY_DIGIT: re.compile(r"\d", re.ASCII),
    codes.CATEGORY_NOT_DIGIT: re.compile(r"\D", re.ASCII),
    codes.CATEGORY_SPACE: re.compile(r"\s", re.ASCII),
    codes.CATEGORY_NOT_SPACE: re.compile(r"\S", re.ASCII),
    codes.CATEGORY_WORD: re.compile(r"\w", re.ASCII),
    codes.CATEGORY_NOT_WORD: re.compile(r"\W", re.ASCII),
}


def _in_class(char: str) -> Callable[[Any], bool]:
    def holds(each: Any) -> bool:
        code, value = each
        if code is codes.LITERAL:
            return bool(ord(char) == value)
        if code is codes.RANGE:
            return bool(value[0] <= ord(char) <= value[1])
        return code is codes.CATEGORY and bool(_CATEGORIES[value].match(char))

    return holds


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


#: Parts that hostile lines repeat: what formats begin and end values with.
PARTS = [
    "a", " ", "a ", '"', "\\", '" "', '\\"', "[", "[31/Jan/2026:12:00:00 +0000] ", "- ", "1.1,",
    "1, ",    '[31/Jan/2026:12:00:00 +0000] "', "31/Jan/2026:12:00:00", "1795894878.523 ", "{", "|",
    ": ",     "0 ",    'GET / HTTP/1.1" 200 1 "-" "', " HTTP/1.1", "/", "::", "<1>", "-0000",
]  # fmt: skip
HEADS = [
    "",
    '1.2.3.4 - - [31/Jan/2026:12:00:00 +0000] "',
    '1.2.3.4 - - [31/Jan/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "',
    "Jan 31 12:00:00 ",
    "1795894878.523 ",
    "GET /",
]


def check_linear(pattern: re.Pattern[Any], is_searched: bool = False, length: int = 60) -> None:
    """A line twice as long takes at most about twice the steps."""
    for head in HEADS:
        for part in PARTS:
            counts = []
            for size in (length, 2 * length):
                counter = StepCounter(pattern)
                text = head + (part * size)[:size]
                if is_searched:
                    counter.search(text)
                else:
                    counter.match(text)
                    counter.match(text, whole=True)
                counts.append(counter.steps)
            assert counts[1] <= 2.2 * counts[0] + 200, (pattern.pattern, head, part, counts)
