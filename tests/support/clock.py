"""An extension whose clock jumps by hours and days, back and forth."""

from __future__ import annotations

import random
import time

from scrapy.crawler import Crawler

#: Seconds by which the clock is put on or back, and how often (seconds of the true clock).
JUMPS = (0, 0, 5, -5, 30, -30, 100, -100, 4_000, -4_000, 86_400, -86_400)
EVERY = 0.7


class JumpingClock:
    """Sets the clock of the process; the setting ``JUMP_SEED`` seeds it."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._true = time.time
        self._jumped = self._true()
        self._ahead = 0.0
        time.time = self._time

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> JumpingClock:
        return cls(crawler.settings.getint("JUMP_SEED"))

    def _time(self) -> float:
        now = self._true()
        if now >= self._jumped + EVERY:
            self._jumped = now
            self._ahead += self._chance.choice(JUMPS)
        return now + self._ahead
