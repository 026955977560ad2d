"""CrawlStats: counts and log lines about single origins and refusals."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import Outlook, WaitEnd, wait_end
from scrapy_robotspec.access.origin import Origin, without_user_info
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import ENDS, EXEMPT, failure_words
from scrapy_robotspec.lookup import FetchDone, Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.reporting.crawl_account import ORIGINS_COUNTED, CrawlAccount
from scrapy_robotspec.plugin.reporting.summary import summary
from scrapy_robotspec.render.text import count, safe
from scrapy_robotspec.signals import request_refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.plugin.exceptions import Refused
    from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
    from scrapy_robotspec.plugin.reporting.progress import Progress
    from scrapy_robotspec.plugin.settings.settings import Settings

logger = logging.getLogger("scrapy_robotspec")


class CrawlStats:
    """Counts events in Scrapy's stats, for the log, and for the report."""

    def __init__(self, runtime: CrawlRuntime, progress: Progress) -> None:
        self._crawler = runtime.crawler
        self._stats = runtime.stats
        self._settings = runtime.settings
        self.account = progress.account
        self.progress = progress
        self._warned: set[Origin] = set()

    # --- requests

    def refused(self, request: Request, asked: Request, refusal: Refused) -> None:
        """*request* is refused by the decision about *asked*."""
        decision = refusal.decision
        self.account.refused(decision, asked.url)
        unreachable = decision.reason == "unreachable"
        self._stats.inc_value("robotspec/unreachable" if unreachable else "robotstxt/forbidden")
        if logger.isEnabledFor(logging.DEBUG):  # as Scrapy's own middleware, with the reason
            why = f" ({refusal.detail})" if refusal.detail else ""
            logger.debug("%s: %s%s", refusal.beginning, shown_request(asked), why)
        if _compat.has_receivers(self._crawler, request_refused):
            self._crawler.signals.send_catch_log(
                request_refused, request=request, decision=decision, spider=self._crawler.spider
            )

    # --- origins

    def on_fetch_done(self, done: FetchDone) -> None:
        """A fetch ended while requests waited."""
        found, record, before = done.found, done.record, done.held
        live, now = self.progress.live.get(found.origin), time.time()
        waiting = 0 if live is None else live.waiting - live.questions
        if isinstance(found, Pending) and found.preempted:
            self._stats.inc_value("robotspec/preempted")
            return
        if record is not None:
            self.account.fetched(done, waiting, now)
            self._note_doubt(record, before)
        self._write_counts()
        if before is None:
            self._stats.inc_value("robotspec/cache/miss")
        elif before.failures:
            self._stats.inc_value("robotspec/retry_count")
        if isinstance(found, Pending):
            if record is not None and record.unreachable_since is not None:
                self._log_failed(record, record.unreachable_since, waiting, now)
            return
        if waiting:
            self._stats.inc_value("robotspec/waited", waiting)
        end = wait_end(before, found.record, found.reason)
        if found.action is Action.REFUSE:
            follows = "are refused until it answers"
            text = f"requests {follows}"
            if waiting:  # else a question of the spider
                text = f"{count(waiting, 'request')} refused; further ones {follows}"
            is_first = before is None or not before.failures
            self.progress.on_given_up(
                found.origin,
                failure_words(end.failure),
                f"{end.words}: {text}",
                is_first=is_first,
            )
        else:
            self._released(found, end, waiting)

    def _note_doubt(self, record: RobotsRecord, before: RobotsRecord | None) -> None:
        """Count and log a response that is not a robots.txt file (FET-20)."""
        doubt = record.doubt_in_words
        if doubt is None or (before is not None and before.fetched_at == record.fetched_at):
            return
        self._stats.inc_value(f"robotspec/{doubt}")
        if before is None or before.doubt_in_words != doubt:
            self.progress.on_doubtful(doubt, record)

    def _log_failed(self, record: RobotsRecord, since: float, waiting: int, now: float) -> None:
        failure = failure_words(record.failure)
        left: int | None = None
        # Without an HTTP answer, or with a temporary status, the attempts count.
        if record.temporary or record.unanswered == record.failures:
            left = self._settings.retry_times - (record.temporary or record.failures) + 1
        ends = since + self._settings.hold_timeout
        outlook = Outlook(failure, record.next_attempt or now, left, ends)
        self.account.waits_on(record.origin, outlook)
        text = f"{count(waiting, 'request waits', 'requests wait')}, {outlook.words(now)}"
        self.progress.on_failed(record.origin, failure, f"{ENDS['copy']} ({failure}): {text}")

    def _released(self, found: Resolved, end: WaitEnd, waiting: int) -> None:
        origin, allows = found.origin, found.action is Action.ALLOW
        if waiting:
            self._stats.inc_value("robotspec/released", waiting)
        result = end.result(found.record, allows=allows)
        if waiting:
            result += f", {count(waiting, 'request')} released"
        self.progress.on_answered(origin, f"{end.words}: {result}")
        is_new = origin not in self._warned and len(self._warned) < ORIGINS_COUNTED
        if found.reason == "unreachable" and is_new:
            self._warned.add(origin)
            logger.warning(
                "robots.txt of %s is unreachable (%s) and ROBOTSPEC_UNREACHABLE is 'allow': "
                "its pages are crawled without rules",
                origin,
                failure_words(end.failure),
            )

    def _write_counts(self) -> None:
        """Hand on what pages have counted: Scrapy's own way costs more than a decision."""
        for name, number in self.account.of_pages.items():
            self._stats.set_value(name, number)

    # --- the end

    def close(self, held: Callable[[Origin], object]) -> None:
        """Make the counts final, and log the summary.

        *held*: the record of an origin.
        """
        self._write_counts()
        if unchecked := self.account.requests().by_outcome[EXEMPT]:
            self._stats.set_value("robotspec/unchecked", unchecked)
        pending = self.progress.pending()
        silent = sum(held(origin) is None for origin, _ in pending)
        self.progress.close()
        logger.info(
            "robots.txt files of this crawl:\n%s",
            summary(self.account, pending, silent),
        )
        if delays := self.account.delays_not_kept:
            logger.info(
                "crawl delay not kept: %s for one, at most %g s (ROBOTSPEC_CRAWL_DELAY)",
                count(len(delays), "origin asks", "origins ask"),
                max(delays.values()),
            )


def log_never_decided(number: int, crawler: Crawler, component: type) -> None:
    """Name the middlewares before *component* that may have answered *number* requests."""
    if number:
        from scrapy_robotspec.plugin._compat_rare import middlewares_before

        before = middlewares_before(crawler.settings, component)
        logger.warning(
            "%s from a middleware before this one and %s not checked (%s)",
            count(number, "response came", "responses came"),
            "was" if number == 1 else "were",
            ", ".join(before) or "its name is unknown",
        )


def open_account(settings: Settings) -> CrawlAccount:
    """The account of a crawl, for a report by origin."""
    if settings.report is None:
        return CrawlAccount()
    from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows

    return OriginRows(settings)


def shown_request(request: Request) -> str:
    """*request* as in Scrapy's log lines, its URL as :func:`shown_url`."""
    return f"<{request.method} {shown_url(request.url)}>"


def shown_url(url: str) -> str:
    """*url* for a log line, without user info (LOC-10) and escaped (SAF-04)."""
    return safe(without_user_info(url), None)
