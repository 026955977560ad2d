"""``ROBOTSPEC_DRY_RUN``: Scrapy's own middleware decides, differences to ours are counted.

Nothing here holds or refuses a request, and no signal is sent. Each robots.txt is fetched once
more than by Scrapy's own middleware; the end of the crawl waits for fetches in progress.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals as scrapy_signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest, NotConfigured
from scrapy.statscollectors import DummyStatsCollector
from twisted.internet.defer import succeed

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.extensions import extensions_of
from scrapy_robotspec.plugin.enforcement import redirected, usage_of_page
from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
from scrapy_robotspec.plugin.reporting.counts import Counts
from scrapy_robotspec.plugin.reporting.report import Report
from scrapy_robotspec.plugin.reporting.stats import shown_request
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Override
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.settings.tokens import Tokens
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger("scrapy_robotspec")

#: Text of the exception by which Scrapy's own middleware refuses a request.
_REFUSED_BY_SCRAPY = "Forbidden by robots.txt"

#: How often origins are looked at for which no fetch could begin (seconds).
_LOOK_EVERY = 0.5
#: Max comparisons that wait; further requests are not compared.
MAX_PENDING = 10_000
#: Max logged differences of each kind.
_EXAMPLES = 10


class _SilentRuntime(CrawlRuntime):
    """Sends no signals: the rules decide nothing."""

    def on_rules(
        self, found: Resolved, request: Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        return succeed(None)


class DryRunMiddleware:
    """Downloader middleware that the add-on puts right behind Scrapy's own (position 101).

    Scrapy's middleware has let each request through; its refusals arrive as exceptions.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.settings = Settings.from_scrapy(crawler.settings)
        if not (crawler.settings.getbool("ROBOTSTXT_OBEY") and self.settings.dry_run):
            raise NotConfigured
        assert crawler.stats is not None
        self._crawler = crawler
        self.robots = CrawlRobots(
            crawler,
            self.settings,
            self._on_fetch_done,
            stats=DummyStatsCollector(crawler),
            runtime=_SilentRuntime,
        )
        self._policy = self.robots.policy
        self._pending = PendingComparisons()
        self._looking = False
        self._idle_since: float | None = None
        self._counts = DifferenceCounts(crawler.stats)
        self._report: Report | None = None
        if self.settings.report is not None:
            self._report = Report(crawler, self.settings.report, self._counts.by_words)
            self._counts.rows = self._report.origins
            self._report.create()
        self._rows = self._counts.rows

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._spider_opened, scrapy_signals.spider_opened)
        connect(middleware._spider_idle, scrapy_signals.spider_idle)
        connect(middleware._spider_closed, scrapy_signals.spider_closed)
        return middleware

    # --- what Scrapy calls

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Scrapy's own middleware let *request* through."""
        self._compare(request, allowed=True)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Scrapy's own middleware, or another one, refused *request*."""
        if isinstance(exception, IgnoreRequest) and str(exception) == _REFUSED_BY_SCRAPY:
            self._compare(request, allowed=False)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """A page has arrived, whose header may state usage preferences (USE-05)."""
        if self._policy.usage.refuses:
            with suppress(ConfigurationError):  # of the user's function; noted with the request
                self._compare_usage(request, response)
        self.robots.tokens.responded(request)
        return response

    # --- comparing

    def _compare_usage(self, request: Request, response: Response) -> None:
        """Count a page that was let through and that ours would keep from the spider."""
        origin = self._policy.origin(request)
        if origin is None or self._policy.ignores(origin):
            return
        sent = redirected(request, request.url)  # with the tokens it was decided with
        answer = self.robots.ask(origin, sent, time.time())
        if isinstance(answer, Pending):
            self._pending.note_header(origin, request, usage_of_page(Usage(), response))
            return
        decision, found = answer
        if decision.allowed:
            extensions = self.robots.extensions(decision, sent, found)
            usage = usage_of_page(extensions.usage_of(request.url), response)
            refused = self._policy.usage.refusal(usage, final=True)
            if refused is not None:
                self._counts.refused_by_header(request, decision.refused_for(refused))

    def _compare(self, request: Request, *, allowed: bool) -> None:
        origin = self._policy.origin(request)
        if origin is None:
            return
        try:
            comparison = Comparison(request, self.robots.tokens(request), allowed)
        except Exception as error:  # of the user's function; Scrapy's crawl must not suffer from it
            self._counts.add(Difference.NOT_COMPARED, request, f"{type(error).__name__}: {error}")
            return
        if self._try(origin, comparison):
            return
        if self._pending.is_full:
            self._counts.add(Difference.NOT_COMPARED, request, "too many await an answer")
            return
        self._rows.wait_began(origin, time.time())
        self._pending.add(origin, comparison)
        self._look_later()

    def _try(self, origin: Origin, comparison: Comparison) -> bool:
        """Compare at once, if the decision can be made; whether it could."""
        answer = self.robots.ask(origin, comparison.request, time.time())
        if not isinstance(answer, Pending):
            self._settle(*answer, comparison)
            return True
        record = self.robots.record(origin)
        if record is None or record.unreachable_since is None:
            return False
        self._would_wait(origin, comparison, record)
        return True

    def _on_fetch_done(self, done: FetchDone) -> None:
        """Compare the requests that have waited for the robots.txt that was fetched."""
        found, record, now = done.found, done.record, time.time()
        if isinstance(found, Pending) and found.preempted:
            return  # not resolved yet; it is tried again
        if record is not None:
            self._rows.fetched(record, done.before, done.seconds, now)
        for comparison in self._pending.take(found.origin):
            if isinstance(found, Resolved):
                url = comparison.request.url
                decision = self._policy.decide(found, url, comparison.tokens, now)
                self._settle(decision, found, comparison)
            else:
                self._would_wait(found.origin, comparison, record)
        self._rows.wait_ended(found.origin, now)
        if not self._pending and self._idle_since is not None:
            _compat.wake(self._crawler.engine)

    def _would_wait(
        self, origin: Origin, comparison: Comparison, record: RobotsRecord | None
    ) -> None:
        failure = record.failure if record is not None else None
        self._counts.would_wait(comparison.request, origin, failure or "no answer")

    def _settle(self, decision: Decision, found: Resolved | None, comparison: Comparison) -> None:
        request = comparison.request
        self.robots.note_decision(request, decision, found, "dry_run")
        if decision.allowed and found is not None and comparison.header is not None:
            usage = extensions_of(found, comparison.tokens).usage_of(request.url)
            by_header = self._policy.usage.refusal(usage | comparison.header, final=True)
            decision = decision if by_header is None else decision.refused_for(by_header)
        override = None if decision.origin is None else self._policy.override(decision.origin)
        self._counts.compared(request, decision, override, allowed=comparison.allowed)

    # --- origins for which no fetch could begin at first

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            _compat.call_later(_LOOK_EVERY, self._look)

    def _look(self) -> None:
        self._looking = False
        for origin in self._pending:
            now = time.time()
            if not self.robots.lookup.may_fetch(self._look_later):
                return
            taken = self._pending.take(origin)
            left = [each for each in taken if not self._try(origin, each)]
            self._pending.add(origin, *left)
            if not left:
                self._rows.wait_ended(origin, now)
        if self._pending:
            self._look_later()

    # --- beginning and end

    def _spider_opened(self) -> None:
        self.robots.open()
        if self._report is not None:
            self._report.open()

    def _spider_idle(self) -> None:
        """Let answers that are under way come in, as long as one fetch may take."""
        if self._pending:
            now = time.monotonic()
            self._idle_since = now if self._idle_since is None else self._idle_since
            if now < self._idle_since + self.settings.fetch_timeout:
                raise DontCloseSpider

    async def _spider_closed(self, reason: str) -> None:
        for origin in self._pending:
            for comparison in self._pending.take(origin):
                detail = "the crawl ended before"
                self._counts.add(Difference.NOT_COMPARED, comparison.request, detail)
        self._counts.log_summary()
        if self._report is not None:
            await self._report.close(reason)
        await self.robots.close()


class Comparison(NamedTuple):
    """A request that Scrapy's own middleware has decided about."""

    request: Request
    tokens: Tokens
    allowed: bool
    """Scrapy's decision."""
    header: Usage | None = None
    """The usage preferences of the response; None before it has come."""


class PendingComparisons:
    """Comparisons by origin."""

    def __init__(self) -> None:
        self._waiting: dict[Origin, list[Comparison]] = {}
        self._number = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[Origin]:
        return iter(list(self._waiting))

    @property
    def is_full(self) -> bool:
        """Whether further ones are refused."""
        return self._number >= MAX_PENDING

    def add(self, origin: Origin, *comparisons: Comparison) -> None:
        """Let *comparisons* await the robots.txt of *origin*."""
        if comparisons:
            self._waiting.setdefault(origin, []).extend(comparisons)
            self._number += len(comparisons)

    def take(self, origin: Origin) -> list[Comparison]:
        """Remove and return what awaits the robots.txt of *origin*."""
        taken = self._waiting.pop(origin, [])
        self._number -= len(taken)
        return taken

    def note_header(self, origin: Origin, request: Request, header: Usage) -> None:
        """The page of *request* came before its robots.txt, with *header*."""
        waiting = self._waiting.get(origin, [])
        for at, each in enumerate(waiting):
            if each.request is request:
                waiting[at] = each._replace(header=header)


class Difference(Enum):
    """The result of a comparison, with its stat."""

    SAME = "robotspec/dry_run/same"
    REFUSE = "robotspec/dry_run/we_would_refuse"
    ALLOW = "robotspec/dry_run/we_would_allow"
    WAIT = "robotspec/dry_run/we_would_wait"
    NOT_COMPARED = "robotspec/dry_run/not_compared"

    @property
    def words(self) -> str:
        """For people."""
        return self.value.rpartition("/")[2].replace("_", " ")


class DifferenceCounts:
    """Counts comparisons in *stats*, and logs the first differences of each kind."""

    def __init__(self, stats: StatsCollector) -> None:
        self.rows = Counts()
        """Counts our decisions for the report, if there is one."""
        self._stats = stats
        self._counts: Counter[Difference] = Counter()

    def compared(
        self, request: Request, ours: Decision, override: Override | None, *, allowed: bool
    ) -> None:
        """Count *request* by both decisions: Scrapy's, *allowed*, and *ours*."""
        replaced = override is not None and ours.reason == "override"
        detail = "by ROBOTSPEC_OVERRIDES" if replaced else _detail(ours)
        if ours.allowed is allowed:
            self.add(Difference.SAME, request, detail)
        else:
            self.add(Difference.ALLOW if ours.allowed else Difference.REFUSE, request, detail)
        if ours.origin is None:
            return
        if override is not None:
            self.rows.overridden(override.kinds, ours.origin)
        if ours.allowed:
            self.rows.let_through(ours.origin)
        else:
            self.rows.refused(ours, request.url)

    def refused_by_header(self, request: Request, ours: Decision) -> None:
        """*ours* refuses the page of *request*, by its header.

        The request was counted as the same before.
        """
        self._counts[Difference.SAME] -= 1
        self._stats.inc_value(Difference.SAME.value, -1)
        self.add(Difference.REFUSE, request, _detail(ours))
        if ours.origin is not None:
            self.rows.revoked(ours.origin)
            self.rows.refused(ours, request.url)

    def would_wait(self, request: Request, origin: Origin, failure: str) -> None:
        """Ours would let *request* wait until *origin* answers."""
        self.add(Difference.WAIT, request, failure)
        self.rows.waited(origin, 1)

    def add(self, difference: Difference, request: Request, detail: str) -> None:
        """Count one comparison."""
        self._counts[difference] += 1
        self._stats.inc_value(difference.value)
        if difference is not Difference.SAME and self._counts[difference] <= _EXAMPLES:
            shown = shown_request(request)
            logger.info("Dry run: %s: %s (%s)", difference.words, shown, detail)

    def by_words(self) -> dict[str, int]:
        """All counts, by words for people."""
        return {each.words: self._counts[each] for each in Difference}

    def log_summary(self) -> None:
        """Log all counts in one line."""
        counts = [f"{count:,} {words}" for words, count in self.by_words().items()]
        logger.info("Dry run of RobotSpecMiddleware, in requests: %s", ", ".join(counts))


def _detail(decision: Decision) -> str:
    """The reason in a few words."""
    if decision.usage is not None:
        return decision.usage.detail
    return decision.reason if decision.allowed else str(refusal(decision))
