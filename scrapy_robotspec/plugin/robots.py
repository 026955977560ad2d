"""CrawlRobots: decides about the requests of one crawl.

The middleware, the dry run, ``scrapy robotspec`` and spiders use the same object. It decides; what
becomes of a request is the caller's choice.
"""

from __future__ import annotations

import atexit
import logging
import time
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request
from scrapy import signals as scrapy_signals
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.editions import AfterLimit
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.request_policy import Answer, RequestPolicy
from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime, open_lookup
from scrapy_robotspec.plugin.reporting.progress import Progress
from scrapy_robotspec.store import shown_uri

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.evidence.log_lines import LoggedDecision, Stage
    from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
    from scrapy_robotspec.plugin.reporting.report import Report
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger("scrapy_robotspec")

_T = TypeVar("_T")

#: A pause of the crawl is seen after this time (seconds).
_TICK = 0.1


class CrawlRobots(CrawlRuntime):
    """Decides about the requests of one crawl.

    *stats* counts the fetches, *account* the requests.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        stats: StatsCollector,
        account: CrawlAccount,
    ) -> None:
        super().__init__(crawler, settings, stats)
        self.policy = RequestPolicy(settings, self.tokens, ftp=_compat.handles_ftp(crawler))
        self.progress = Progress(
            stats,
            account,
            self.live,
            after=settings.progress_after,
            interval=crawler.settings.getfloat("LOGSTATS_INTERVAL"),
        )
        self.signals = crawler.signals
        self._is_stopped = False
        self._waits: set[Deferred[Any]] = set()
        self._ticker: Any = None
        self.lookup = open_lookup(self)
        crawler.signals.connect(self.close, scrapy_signals.engine_stopped)
        if settings.evidence is not None:
            from scrapy_robotspec.plugin.recording.observer import open_evidence

            self.observer = open_evidence(crawler, settings, self.tokens, time.time())
            self.lookup.followers.append(self.observer)
        self._report: Report | None = None
        if settings.report is not None:
            from scrapy_robotspec.plugin.reporting.report import Report

            self._report = Report(self, account)

    # --- requests

    def decide_now(self, origin: Origin, request: Request, now: float) -> Answer | Pending:
        """Decide about *request* at *now*, or return what is pending.

        Starts a fetch where one is due. *origin* is ``policy.origin(request)``.
        """
        if self.settings.overrides:
            overridden = self.policy.by_override(origin, request)
            if overridden is not None:
                return overridden
        # hot path
        found = self.lookup.rules.get_valid(origin, now) or self.lookup.look_up(
            origin, now, request
        )
        if isinstance(found, Pending):
            return found
        return self.policy.by_rules(found, request, now)

    async def decide_later(
        self, origin: Origin, request: Request, *, is_question: bool = False
    ) -> Answer:
        """The decision about *request*, once its robots.txt is known or given up.

        Raises ``IgnoreRequest`` if the spider closes first.
        """
        # One reading of the clock finds the rules and decides by them: they may expire meanwhile.
        while isinstance(answer := self.decide_now(origin, request, time.time()), Pending):
            await self._known(origin, request, is_question)
        return answer

    async def decide(self, request: Request) -> Decision:
        """Whether *request* may go and why; waits until its robots.txt is known."""
        origin = self.policy.origin(request)
        if origin is None:
            return Decision(allowed=True, reason="no_rule")
        answer = await self.decide_later(origin, request, is_question=True)
        self.note_decision(request, answer, "question")
        return answer.decision

    def note_decision(
        self, request: Request, answer: Answer, stage: Stage
    ) -> LoggedDecision | None:
        """Log *answer*, which applies to *request* now, as evidence."""
        return None if self.observer is None else self.observer.on_decision(request, answer, stage)

    async def rules(self, request: Request) -> RobotsTxt | None:
        """The rules for *request*: the user's own, else those of its origin.

        Waits until they are known, as :meth:`decide_later` does.
        """
        origin = self.policy.origin(request)
        if origin is None:
            return None
        own = self.policy.replacement(origin)
        if own is not None:
            return None if isinstance(own, str) else own
        found = self.lookup.ask(origin, time.time(), request)
        if isinstance(found, Pending):
            found = await self._known(origin, request, True)
        return found.robots

    # --- waits

    async def _known(self, origin: Origin, request: Request, is_question: bool) -> Resolved:
        """Wait until *origin* is resolved, at most until it is given up."""
        event = f"the robots.txt of {origin} was known"
        if self._is_stopped:
            raise IgnoreRequest(f"the spider was closed before {event}")
        live = self.live.use(origin)
        live.waits += 1
        live.questions += is_question
        self.progress.wait_began(origin)
        try:
            waiting = self.lookup.wait(origin, request, in_pauses=is_question)
            return await self.until(Deferred.fromCoroutine(waiting), event)
        finally:
            live.waits -= 1
            live.questions -= is_question
            self.progress.waiting_changed(-1)
            if not (live.waiting or self.engine.is_closing):
                self.progress.end_wait(origin)
            self.live.settle(live)

    async def until(self, waiting: Deferred[_T], event: str) -> _T:
        """The result of *waiting* for *event*, without a place of ``CONCURRENT_REQUESTS``.

        Raises ``IgnoreRequest`` when the spider closes first.
        """
        release_slot = _compat.extra_download_slot(self.crawler.engine)
        self.engine.wake()
        self._waits.add(waiting)
        if self._is_stopped:
            waiting.cancel()
        if self._ticker is None:
            self._tick(time.monotonic())
        try:
            result: _T = await _compat.as_future(waiting)
            return result
        except CancelledError:
            raise IgnoreRequest(f"the spider was closed before {event}") from None
        finally:
            self._waits.discard(waiting)
            release_slot()

    def _tick(self, ticked_at: float) -> None:
        """Leave pauses out of the holds while anything waits; *ticked_at*: the last tick."""
        now = time.monotonic()
        self._ticker = _compat.call_later(_TICK, self._tick, now) if self._waits else None
        self.lookup.tick(now - ticked_at)

    # --- start and end

    def open(self) -> None:
        """Log what is in force, and connect signals."""
        default = self.settings.default_crawl_delay
        logger.info(
            "robots.txt: token %s, edition %s, store %s, crawl delays %s%s",
            self.tokens,
            self.settings.edition.name,
            shown_uri(self.settings.cache),
            "kept" if self.settings.crawl_delay else "not kept",
            f", default crawl delay {default:g} s" if default else "",
        )
        if self.crawler.settings.get(_compat.RAISED_LIMITS):
            from scrapy_robotspec.plugin import _compat_rare

            _compat_rare.remove_connections(self.crawler)
        _compat.limit_pages(self.crawler)
        _compat.when_closing(self.crawler.engine, self.stop)
        if self.settings.edition.after_limit is AfterLimit.ALLOW_IF_PAGES_ANSWER:
            from scrapy_robotspec.lookup.page_answers import PageAnswers

            self._page_answers = PageAnswers(self, self.lookup)
            self.crawler.signals.connect(
                self._page_answers.on_response, scrapy_signals.response_received
            )
        if self.observer is not None:
            self.observer.open()
        if self._report is not None:
            self._report.open()

    def stop(self) -> None:
        """Cancel fetches and waits; begin no more."""
        self._is_stopped = True
        self.lookup.stop()
        for waiting in list(self._waits):
            waiting.cancel()

    async def end(self, reason: str) -> None:
        """Stop, as the spider has closed for *reason*.

        The end of the engine calls :meth:`close`. If Ctrl-C skips that, the end of the process
        closes the evidence.
        """
        self.stop()
        if self.observer is not None:
            atexit.register(self._close_evidence)
        if self._report is not None:
            self._report.end(reason)
        if not _compat.was_started(self.crawler.engine):
            await self.close()

    async def close(self) -> None:
        """Close report, stores and evidence. Fetches that were cancelled end before."""
        if self._report is not None:
            await _compat.as_future(self.in_thread(self._report.close))
        await _compat.as_future(Deferred.fromCoroutine(self.lookup.close()))
        if self.observer is not None:
            await _compat.as_future(self.in_thread(self._close_evidence))
        if "in_thread" in vars(self):
            self.in_thread.close()

    def _close_evidence(self) -> None:
        """Write the end of the evidence, with the account of a crawl that was decided here."""
        assert self.observer is not None
        atexit.unregister(self._close_evidence)
        is_dry = self.settings.dry_run
        self.observer.close(None if is_dry else self.progress.account.requests())
