"""Progress: log lines and gauges about pending origins.

One INFO line when an origin starts to wait or has not answered for a while, one when that ends, and
a summary line at intervals. Many origins with the same failure share one line.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.protocol.file_kind import is_view_of_text
from scrapy_robotspec.render.text import REST, count, safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount

logger = logging.getLogger("scrapy_robotspec")

#: Max origins with the same kind of line and failure that get a line of their own.
MAX_LINES = 20

#: Behind the URL of a page that a service or a handler made of a robots.txt.
VIEW = (
    " (a browser's view of a text file, whose rules are not obeyed: request robots.txt without the "
    "browser)"
)

#: Words for origins without a line of their own, by kind of line; they take the failure.
_FURTHER = {
    "silent": "have not answered yet",
    "waiting": "are unreachable ({}), attempts go on",
    "given_up": "are given up ({})",
    "doubtful": "have {}",
}


@dataclass(eq=False)
class Progress:
    """Tracks pending origins and waiting requests of one crawl.

    *after*: seconds until an unanswered robots.txt is logged (``ROBOTSPEC_PROGRESS_AFTER``).
    *interval*: seconds between summary lines (``LOGSTATS_INTERVAL``); 0: none.
    """

    stats: StatsCollector
    account: CrawlAccount
    live: LiveOrigins
    after: float
    interval: float
    _waiting: int = 0
    _pending: dict[Origin, float] = field(default_factory=dict)
    """Since when requests wait for an origin (epoch seconds), the oldest first."""
    _failing: set[Origin] = field(default_factory=set)
    """Pending origins whose failure was written, or counted with others."""
    _is_closed: bool = False
    _logged: set[Origin] = field(default_factory=set)
    """Origins with a line in the log."""
    _lines: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Lines by kind and failure, those above :data:`MAX_LINES` until they are counted."""
    _timers: dict[str, Any] = field(default_factory=dict)
    """Calls that will name an origin that is silent, and the one for the summary line."""

    # --- events

    def wait_began(self, origin: Origin) -> None:
        """A request waits for the robots.txt of *origin*."""
        self.waiting_changed(1)
        if origin in self._pending:
            return
        self._pending[origin] = now = time.time()
        self.account.wait_began(origin, now)
        self.stats.set_value("robotspec/pending", len(self._pending))
        self._start(origin, self.after, self._log_silent, origin)
        self._start("summary", self.interval, self._log_summary)

    def end_wait(self, origin: Origin) -> bool:
        """Nothing waits for *origin* any more; return whether it was pending."""
        self._stop(origin)
        since = self._pending.pop(origin, None)
        if since is None:
            return False
        self._failing.discard(origin)
        self.stats.set_value("robotspec/pending", len(self._pending))
        self.account.wait_ended(origin, since, time.time())
        return True

    def on_failed(self, origin: Origin, failure: str, text: str) -> None:
        """An attempt failed and *origin* goes on waiting; *text* says what follows."""
        self._stop(origin)
        if origin in self._pending and origin not in self._failing:
            self._failing.add(origin)
            self._write(origin, "waiting", failure, text)

    def on_doubtful(self, doubt: str, record: RobotsRecord) -> None:
        """The response of an origin is not a robots.txt file (FET-20)."""
        if self._has_room(("doubtful", doubt)):
            is_view = is_view_of_text(record.body)  # its rules are lost
            logger.log(
                logging.WARNING if is_view else logging.INFO,
                "%s at %s%s: it is asked again in %.0f s at the latest",
                doubt,
                record.origin.robots_url,
                VIEW if is_view else "",
                record.lifetime,
            )

    def on_given_up(
        self, origin: Origin, failure: str, text: str, *, is_first: bool = False
    ) -> None:
        """*origin* is given up: its requests are refused until it answers.

        *is_first*: by its first failure, which nothing may have waited for.
        """
        if self.end_wait(origin) or is_first:  # else a probe of one that was given up before
            self._write(origin, "given_up", failure, text)

    def on_answered(self, origin: Origin, text: str) -> None:
        """*origin* has answered; *text* is logged if the wait for it was."""
        self.end_wait(origin)
        if origin in self._logged:
            self._logged.remove(origin)
            logger.info("robots.txt of %s %s", origin, text)

    def waiting_changed(self, change: int) -> None:
        """*change* more requests wait in the queues."""
        if self._is_closed:
            return
        self._waiting += change
        self.stats.set_value("robotspec/waiting", self._waiting)
        self.stats.max_value("robotspec/waiting_max", self._waiting)

    def pending(self) -> list[tuple[Origin, float]]:
        """Each pending origin with its age in seconds, the oldest first."""
        now = time.time()
        return [(origin, max(0.0, now - since)) for origin, since in self._pending.items()]

    def close(self) -> None:
        """Stop all timers, log suppressed lines, set the gauges to 0."""
        for name in list(self._timers):
            self._stop(name)
        self._log_further()
        for origin in list(self._pending):
            self.end_wait(origin)
        if self._waiting:
            self.waiting_changed(-self._waiting)
        self._is_closed = True  # waits that were cancelled end later

    # --- lines

    def _write(self, origin: Origin, kind: str, failure: str, text: str) -> None:
        """Log *text* about *origin*; count it where too many are alike."""
        if self._has_room((kind, failure.partition(":")[0])):
            self._logged.add(origin)
            logger.info("robots.txt of %s %s", origin, text)

    def _has_room(self, group: tuple[str, str]) -> bool:
        """Count a line; whether it is among the first of its group."""
        self._lines[group] += 1
        return self._lines[group] <= MAX_LINES

    def _log_silent(self, origin: Origin) -> None:
        """Name *origin*, which has not answered for :attr:`after` seconds."""
        del self._timers[origin]
        requests = count(self.live.use(origin).waiting, "request waits", "requests wait")
        self._write(
            origin, "silent", "silent", f"has not answered for {self.after:g} s: {requests}"
        )

    def _log_summary(self) -> None:
        del self._timers["summary"]
        self._log_further()
        if pending := self.pending():
            origin, age = pending[0]
            self._start("summary", self.interval, self._log_summary)
            logger.info(
                "robots.txt: %s pending, %s waiting, longest %.0f s (%s)",
                count(len(self._pending), "origin"),
                count(self._waiting, "request"),
                age,
                origin.host,
            )

    def _log_further(self) -> None:
        """Count the origins without a line of their own."""
        for group, number in self._lines.items():
            if number <= MAX_LINES:
                continue
            kind, failure = group
            self._lines[group] = MAX_LINES
            logger.info(
                "robots.txt of %s more origins: they %s%s",
                f"{number - MAX_LINES:,}",
                _FURTHER[kind].format(safe(failure)),
                REST,
            )

    # --- timers

    def _start(self, name: str, seconds: float, call: Callable[..., None], *args: Origin) -> None:
        """Call *call* in *seconds*, unless that is planned already; never for 0."""
        if seconds > 0 and name not in self._timers:
            self._timers[name] = _compat.call_later(seconds, call, *args)

    def _stop(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
