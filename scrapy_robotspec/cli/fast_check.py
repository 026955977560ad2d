"""``check`` of many URLs for one crawler, as text."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.as_text import verdict_word
from scrapy_robotspec.render.explanation import reason_words
from scrapy_robotspec.render.text import WIDEST, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.models import Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.terminal import Screen

#: URLs answered between two updates of the progress bar.
_STEP = 5000

_NEEDS_ESCAPE = re.compile(rb"[^!-~]")


def check_many(
    robots: RobotsTxt,
    tokens: tuple[str, ...],
    urls: Sequence[bytes],
    screen: Screen,
    *,
    only_disallowed: bool,
) -> tuple[int, int]:
    """Print a line per URL; return how many are allowed and disallowed."""
    numbers = [0, 0]
    rest = iter(urls)
    for done in range(0, len(urls), _STEP):
        screen.done(done, len(urls), "answered")
        lines = _lines(robots, tokens, list(islice(rest, _STEP)), screen, only_disallowed, numbers)
        if text := "\n".join(lines):
            screen.say(text)
    screen.clear()
    return numbers[True], numbers[False]


def _lines(
    robots: RobotsTxt,
    tokens: tuple[str, ...],
    urls: list[bytes],
    screen: Screen,
    only_disallowed: bool,
    numbers: list[int],
) -> Iterator[str]:
    explain = robots.explain
    # Verdicts of one group and rule are one object, so their text is made once.
    texts: dict[Verdict, tuple[str, str]] = {}
    for url, shown in zip(urls, _shown(urls), strict=True):  # hot path
        verdict = explain(url, tokens)
        allowed = verdict.allowed
        numbers[allowed] += 1
        if allowed and only_disallowed:
            continue
        try:
            before, after = texts[verdict]
        except KeyError:
            before, after = texts[verdict] = _around(verdict, screen)
        yield f"{before}{shown}{after}"


def _around(verdict: Verdict, screen: Screen) -> tuple[str, str]:
    reason = screen.paint("faint", f"({reason_words(verdict)})")
    return f"{verdict_word(verdict.allowed, screen)}  ", f"  {reason}"


def _shown(urls: list[bytes]) -> list[str]:
    """The URLs, escaped for a terminal; usually none of them needs it."""
    joined = b"".join(urls)
    if not _NEEDS_ESCAPE.search(joined) and max(map(len, urls)) <= WIDEST:
        return [url.decode("ascii") for url in urls]
    return [safe(decode(url)) for url in urls]
