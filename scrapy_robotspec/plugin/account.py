"""What the crawl says of itself while it waits: stats and the lines in the log.

Counts and sentences only; nothing here changes what happens. One INFO line when an origin starts
to wait and one when that ends; no line for each request that waits, and no traceback for a host
that is merely down.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

logger = logging.getLogger("scrapy_robotspec")


class Account:
    """Keeps the stats of waiting and tells of origins that are unreachable."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._waiting = 0
        self._unreachable: dict[Origin, str] = {}

    def waiting_changed(self, change: int) -> None:
        """*change* more requests are held."""
        self._waiting += change
        if change > 0:
            self._stats.max_value("robotspec/waiting_max", self._waiting)

    def starts_to_wait(
        self, record: RobotsRecord, requests: int, now: float, hold_until: float
    ) -> None:
        """An attempt failed and the requests of the origin stay in the scheduler."""
        if record.origin in self._unreachable:
            return
        self._unreachable[record.origin] = "waiting"
        logger.info(
            "robots.txt of %s is unreachable (%s): %s, next attempt in %.1f s, given up %s",
            record.origin,
            record.failure or "no answer",
            _requests(requests, "wait"),
            max(0.0, (record.next_attempt or now) - now),
            f"in {hold_until - now:.0f} s" if hold_until > now else "at the next failure",
        )

    def released(self, origin: Origin, requests: int) -> None:
        """The robots.txt of the origin is known; *requests* that waited may be decided."""
        self._let_go(requests, "robotspec/released")
        if self._unreachable.pop(origin, None):
            logger.info("robots.txt of %s answers: %s released", origin, _requests(requests, "are"))

    def given_up(self, record: RobotsRecord, requests: int) -> None:
        """The origin was unreachable for too long: its requests are refused."""
        self._let_go(requests, None)
        if self._unreachable.get(record.origin) != "given up":
            self._unreachable[record.origin] = "given up"
            logger.info(
                "robots.txt of %s is given up (%s): %s refused, until it answers",
                record.origin,
                record.failure or "no answer",
                _requests(requests, "are"),
            )

    def allowed_unreachable(self, record: RobotsRecord) -> None:
        """ROBOTSPEC_UNREACHABLE = "allow": the origin is crawled without its robots.txt."""
        if record.origin not in self._unreachable:
            self._unreachable[record.origin] = "allowed"
            logger.warning(
                "robots.txt of %s is unreachable (%s) and ROBOTSPEC_UNREACHABLE is 'allow': its "
                "pages are crawled without asking any rules",
                record.origin,
                record.failure or "no answer",
            )

    def _let_go(self, requests: int, stat: str | None) -> None:
        if requests:
            self._stats.inc_value("robotspec/waited", requests)
            if stat is not None:
                self._stats.inc_value(stat, requests)


def _requests(number: int, verb: str) -> str:
    if number == 1:
        return f"1 request {'waits' if verb == 'wait' else 'is'}"
    return f"{number} requests {verb}"
