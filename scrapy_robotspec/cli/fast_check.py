"""``check`` of many URLs for one crawler, as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.text import WIDEST, count, safe
from scrapy_robotspec.render.wording import reason_words, verdict_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.models import Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.terminal import Screen

#: URLs answered between two updates of the progress bar.
_STEP = 5000
_PRINTABLE = bytes(range(0x20, 0x7F))


def check_many(
    robots: RobotsTxt,
    tokens: tuple[str, ...],
    urls: Sequence[str | bytes],
    screen: Screen,
    *,
    only_disallowed: bool,
) -> int:
    """Print a line per URL and a summary.

    Returns the number of disallowed URLs.
    """
    numbers: Counter[bool | None] = Counter()
    for done in range(0, len(urls), _STEP):
        screen.done(done, len(urls), "answered")
        part = urls[done : done + _STEP]
        keys, verdicts = robots.explain_all(part, tokens)
        for key, number in Counter(keys).items():
            numbers[verdicts[key].allowed] += number
        texts = {
            key: _around(verdict, screen)
            for key, verdict in verdicts.items()
            if not (verdict.allowed and only_disallowed)
        }
        lines = _lines(_shown(part), keys, texts)
        if text := "\n".join(lines):
            screen.say(text)
    screen.clear()
    if numbers.total() > 1:
        screen.sum_up(summary(numbers))
    return numbers[False]


def summary(numbers: Counter[bool | None]) -> str:
    """How many URLs are allowed, disallowed, and (None) without an answer."""
    total = count(sum(numbers.values()), "answer")
    unknown = f", {numbers[None]:,} without an answer" if numbers.get(None) else ""
    return f"{total}: {numbers[True]:,} allowed, {numbers[False]:,} disallowed{unknown}"


def _lines(
    shown: Sequence[str], keys: Sequence[int], texts: Mapping[int, tuple[str, str]]
) -> list[str]:
    """The lines of the verdicts that have a text."""
    return [  # hot path
        f"{around[0]}{url}{around[1]}"
        for url, key in zip(shown, keys, strict=True)
        if (around := texts.get(key)) is not None
    ]


def _around(verdict: Verdict, screen: Screen) -> tuple[str, str]:
    reason = screen.paint("faint", f"({reason_words(verdict)})")
    return f"{verdict_word(verdict.allowed, screen)}  ", f"  {reason}"


def _shown(urls: Sequence[str | bytes]) -> Sequence[str]:
    """The URLs, escaped for a terminal; usually none of them needs it."""
    texts = [url if isinstance(url, str) else decode(url) for url in urls]
    joined = "".join(texts)
    plain = joined.isascii() and not joined.encode().translate(None, _PRINTABLE)  # hot path
    if (plain or joined.isprintable()) and max(map(len, texts)) <= WIDEST:
        return texts
    return [safe(text) for text in texts]
