"""Crawl-delay (EXT-01): when the next page of an origin may go.

Times only. Whoever must wait is held at the gate (``gate.py``), not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: A clock may be put back by so much without anybody noticing (seconds).
_SKEW = 1.0
#: Times that have passed are swept when so many are noted.
_SWEEP_AT = 10_000


class CrawlDelay:
    """Remembers when each origin's next page may go. *longest* bounds what a file may ask for."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next: dict[Origin, float] = {}

    def next_at(self, origin: Origin, now: float, asked: float = 0.0, delay: float = 0.0) -> float:
        """From when on the next page of *origin* may go, as it looks at *now*.

        For the first page that is *delay* after the robots.txt was *asked* for; 0: any time. What
        lies further ahead than any pause comes from a clock that was put back, and says nothing.
        """
        next_at = self._next.get(origin)
        if next_at is None:
            next_at = asked + min(delay, self._longest)
        return next_at if next_at <= now + self._longest + _SKEW else 0.0

    def take(self, origin: Origin, delay: float, now: float) -> float:
        """A page goes at *now*: from when on the next one may."""
        if len(self._next) >= _SWEEP_AT:
            self._next = {known: time for known, time in self._next.items() if time > now}
        self._next[origin] = until = now + min(delay, self._longest)
        return until
