"""What the crawl says of itself: stats, the lines in the log, and the report.

Counts and sentences only; nothing here changes what happens. One INFO line when an origin starts
to wait and one when that ends; no line for each request that waits, and no traceback for a host
that is merely down.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.reporting.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup import FetchDone, Resolved
    from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots, RobotsUnreachable
    from scrapy_robotspec.plugin.settings.settings import Settings

logger = logging.getLogger("scrapy_robotspec")


class CrawlStats:
    """Is told of everything and keeps count."""

    def __init__(self, stats: StatsCollector, settings: Settings) -> None:
        self._stats = stats
        self._settings = settings
        self._path = settings.report
        self._report = Report(by_origin=self._path is not None)
        self.let_through = self._report.let_through
        self._waiting = 0
        # On the way of every request, so these two come into the stats now and then only.
        self._hits = self._stale = 0
        self._told: dict[Origin, str] = {}

    # --- requests

    def refused(self, decision: Decision, request: Request) -> None:
        """A request is refused, by its robots.txt or for want of one."""
        self._report.refused(decision)
        unreachable = decision.reason == "unreachable"
        self._stats.inc_value("robotspec/unreachable" if unreachable else "robotstxt/forbidden")
        _say_refused(refusal(decision), request)

    def refused_after_download(self, decision: Decision, request: Request) -> None:
        """A request that was let through is refused for its response's usage preferences."""
        if decision.origin is not None:
            self._report.revoked(decision.origin)
        self.refused(decision, request)

    def usage(self, counts: Mapping[str, str]) -> None:
        """The preferences of one page, by declared label."""
        for label, preference in counts.items():
            self._stats.inc_value(f"robotspec/usage/{label}/{preference}")
        self._report.usage(counts)

    def asked_cache(self, found: Resolved) -> None:
        """A decision was made with what was at hand.

        A copy that stands in for an unreachable file is stale, any other answer a hit.
        """
        if found.unreachable:
            self._stale += 1
        else:
            self._hits += 1

    def overridden(self, kinds: tuple[str, ...]) -> None:
        """The user's own word for a host was used."""
        for kind in kinds:
            self._stats.inc_value(f"robotspec/override/{kind}")

    def waiting_changed(self, change: int) -> None:
        """*change* more requests are held."""
        self._waiting += change
        if change > 0:
            self._stats.max_value("robotspec/waiting_max", self._waiting)

    # --- origins

    def on_fetch_done(self, landing: FetchDone, waiting: int, now: float) -> None:
        """An origin was asked for its robots.txt, while *waiting* requests were held for it."""
        found, record, before = landing.found, landing.record, landing.before
        if isinstance(found, Pending) and found.preempted:
            self._stats.inc_value("robotspec/preempted")
            return
        if landing.result is not None and not landing.result.sent:
            return
        self._report.asked(found.origin, record, before, landing.seconds)
        self._bring_up_to_date()
        if before is None:
            self._stats.inc_value("robotspec/cache/miss")
        elif before.failures:
            self._stats.inc_value("robotspec/retry_count")
        if isinstance(found, Pending):
            if record is not None and record.unreachable_since is not None:
                self._starts_to_wait(record, record.unreachable_since, waiting, now)
        elif found.action is Action.REFUSE and record is not None:
            self._given_up(record, waiting)
        else:
            failure = record.failure if record is not None else None
            self._released(found, failure or "no answer", waiting)

    def _starts_to_wait(self, record: RobotsRecord, since: float, waiting: int, now: float) -> None:
        if self._is_news(record.origin, "waiting"):
            logger.info(
                "robots.txt of %s is unreachable (%s): %s, next attempt in %.1f s, given up %s",
                record.origin,
                record.failure or "no answer",
                _requests(waiting, "wait"),
                max(0.0, (record.next_attempt or now) - now),
                self._until_when(record, since, now),
            )

    def _until_when(self, record: RobotsRecord, since: float, now: float) -> str:
        if record.unanswered == record.failures:  # no HTTP answer at all: the attempts count
            return f"after {self._settings.retry_times - record.failures + 1} more attempts"
        return f"in {max(0.0, since + self._settings.hold_timeout - now):.0f} s"

    def _given_up(self, record: RobotsRecord, waiting: int) -> None:
        self._waited(waiting)
        self._report.given_up(record.origin, waiting)
        if self._is_news(record.origin, "given up"):
            logger.info(
                "robots.txt of %s is given up (%s): %s refused, until it answers",
                record.origin,
                record.failure or "no answer",
                _requests(waiting, "are"),
            )

    def _released(self, found: Resolved, failure: str, waiting: int) -> None:
        self._waited(waiting)
        if waiting:
            self._stats.inc_value("robotspec/released", waiting)
            self._report.waited(found.origin, waiting)
        if found.action is Action.ALLOW and found.reason == "unreachable":
            if self._is_news(found.origin, "allowed"):
                logger.warning(
                    "robots.txt of %s is unreachable (%s) and ROBOTSPEC_UNREACHABLE is 'allow': "
                    "its pages are crawled without asking any rules",
                    found.origin,
                    failure,
                )
        elif self._told.pop(found.origin, None):
            logger.info(
                "robots.txt of %s answers: %s released", found.origin, _requests(waiting, "are")
            )

    def _waited(self, waiting: int) -> None:
        if waiting:
            self._stats.inc_value("robotspec/waited", waiting)

    def _is_news(self, origin: Origin, what: str) -> bool:
        news = self._told.get(origin) != what
        self._told[origin] = what
        return news

    def _bring_up_to_date(self) -> None:
        for name, count in (("hit", self._hits), ("stale", self._stale)):
            if count:
                self._stats.inc_value(f"robotspec/cache/{name}", count)
        self._hits = self._stale = 0

    # --- the end

    def close(self) -> None:
        """Say what the crawl met, and write the report if one is wanted."""
        self._bring_up_to_date()
        logger.info("robots.txt files of this crawl:\n%s", self._report.table())
        if self._path is None:
            return
        try:
            self._report.write(self._path)
        except OSError as error:
            logger.error("ROBOTSPEC_REPORT = %r cannot be written: %s", self._path, error)


def _say_refused(refusal: ForbiddenByRobots | RobotsUnreachable, request: Request) -> None:
    """The line that Scrapy's own middleware writes, with the reason behind it."""
    if logger.isEnabledFor(logging.DEBUG):
        why = f" ({refusal.detail})" if refusal.detail else ""
        logger.debug("%s: %s%s", refusal.beginning, _named(request), why)


def _named(request: Request) -> object:
    """*request* as Scrapy's log lines show it, without user info (LOC-10)."""
    scheme, slashes, rest = request.url.partition("://")
    host, slash, path = rest.partition("/")
    if "@" not in host:
        return request
    return f"<{request.method} {scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}>"


def _requests(number: int, verb: str) -> str:
    if number == 1:
        return f"1 request {'waits' if verb == 'wait' else 'is'}"
    return f"{number} requests {verb}"
