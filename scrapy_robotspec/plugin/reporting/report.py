"""Report: counts for each origin, and the file of ``ROBOTSPEC_REPORT``.

Loaded where a report is wanted. A thread writes the file from the counts while the crawl goes on
counting: nothing is removed from them.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import RequestCounts, answer_in_words
from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import failure_words
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.files import replacing
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.plugin.reporting.summary import TOP, cut, deciding_line
from scrapy_robotspec.plugin.settings.composite import expand
from scrapy_robotspec.render.crawl_report import CrawlFacts, OriginStats, RefusalStats, report_lines
from scrapy_robotspec.store import shown_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import TokenSelector

logger = logging.getLogger("scrapy_robotspec")

#: Shortest time between two updates (seconds).
MIN_PAUSE = 1.0
#: Pause after an update, as a multiple of its duration: updates take at most 2% of the time.
PAUSE_FACTOR = 50
#: Max origins with counts of their own.
MAX_ORIGINS = 100_000
#: Max rules that are counted one by one, of one origin and of all. Further ones are counted
#: together, for each origin and reason.
MAX_RULES, MAX_ALL_RULES = 100, 10_000
#: Max URLs that are kept as examples of refused requests, for each rule and for all.
MAX_EXAMPLES, MAX_ALL_EXAMPLES = 10, 10_000
#: Number of origins whose files are kept.
MAX_FILES = 3


class Report:
    """The report of one crawl: its counts and its file.

    ``create`` is called first, ``end`` and ``close`` last. *differences*: the counts of a dry run.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        tokens: TokenSelector,
        differences: Mapping[str, int] | None = None,
    ) -> None:
        assert crawler.spider is not None
        assert settings.report is not None
        self._setting = settings.report
        self._facts = CrawlFacts(
            spider=crawler.spider.name,
            token=str(tokens),
            tokens=tokens.usual,
            edition=settings.edition,
            store=shown_uri(settings.cache),
            keeps_delays=settings.keeps_delays,
            overrides=tuple(settings.overrides or ()),
            started=time.time(),
            slow=settings.progress_after or math.inf,
        )
        self.origins = OriginStatsTable(self._facts.slow)
        self._crawler = crawler
        self._differences = differences
        self._finished: str | None = None
        self._end = Event()
        self._thread = Thread(target=self._keep_up_to_date, daemon=True)
        self._is_failing = False

    def create(self) -> None:
        """Create the file, and its folder if needed.

        A number is added to its name if it exists. Raises ``ConfigurationError`` if the system
        refuses.
        """
        wanted = Path(expand(self._setting, self._facts.spider, self._facts.started)).absolute()
        try:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                self._path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
                with suppress(FileExistsError):
                    with self._path.open("x", encoding="utf-8", newline="\n") as file:
                        file.writelines(self._contents())
                    break
        except OSError as error:
            expected = f"the path of a file that this process can write ({error.strerror})"
            raise wrong("ROBOTSPEC_REPORT", self._setting, expected) from error
        logger.info(
            "ROBOTSPEC_REPORT: the report of this crawl is %s, kept up to date", self._path.as_uri()
        )

    def open(self) -> None:
        """Begin to keep the file up to date."""
        self._thread.start()

    def end(self, reason: str) -> None:
        """Begin to write the final contents; *reason* is why the crawl ended."""
        self._finished = reason
        self._end.set()
        if self._thread.ident is None:  # the spider was never opened
            self._thread.start()

    def close(self) -> None:
        """Wait until the final contents are written. Blocks."""
        self._thread.join()
        if self._is_failing:
            logger.error("ROBOTSPEC_REPORT: %s is not complete", self._path)

    # --- writing

    def _keep_up_to_date(self) -> None:
        pause = MIN_PAUSE
        while not self._end.wait(pause):
            begin = time.monotonic()
            self._update()
            pause = max(MIN_PAUSE, PAUSE_FACTOR * (time.monotonic() - begin))
        self._update()

    def _update(self) -> None:
        """Replace the contents of the file, as a whole.

        A process that is killed leaves the old contents or the new ones. After a failure, of which
        the first of several is logged, the old ones stay.
        """
        try:
            with replacing(self._path) as file:
                file.writelines(part.encode() for part in self._contents())
        except Exception as error:  # no fault of a report may end a crawl
            if not self._is_failing:
                logger.error(
                    "ROBOTSPEC_REPORT: %s cannot be written: %s. The crawl goes on, and the file "
                    "keeps its last contents until an attempt succeeds",
                    self._path,
                    error,
                    exc_info=None if isinstance(error, OSError) else error,
                )
            self._is_failing = True
        else:
            self._is_failing = False

    def _contents(self) -> Iterable[str]:
        origins = self.origins.rows()
        if not self._setting.lower().endswith(".html"):
            return report_lines(origins)
        from scrapy_robotspec.render.report_page import report_page  # most crawls need no Jinja2

        stats = self._crawler.stats
        assert stats is not None
        page = report_page(
            origins,
            self._facts,
            now=time.time(),
            finished=self._finished,
            waiting=stats.get_value("robotspec/waiting", 0),
            is_cut=self.origins.is_cut,
            differences=self._differences,
        )
        return [page]


class OriginStatsTable(dict["Origin | None", OriginStats]):
    """The :class:`OriginStats` of origins, in order of appearance, made on first use.

    Times are in epoch seconds, durations in seconds. Beyond :data:`MAX_ORIGINS` origins without a
    refusal, a failure or a wait of *slow* seconds are counted together.
    """

    def __init__(self, slow: float) -> None:
        super().__init__()
        self._slow = slow
        self._rest = OriginStats("")
        """Requests without a row of their own. Only its sums mean anything."""
        self._unremarkable: deque[Origin] = deque()
        """Origins that may have to make room for others."""
        self._refusals: dict[tuple[str, str, int | None, str | None], RefusalStats] = {}
        self._examples = 0
        self.is_cut = False
        """Whether a bound was reached."""

    def rows(self) -> list[OriginStats]:
        """The origins, and one row for the requests that have none."""
        rest = self._rest.sums()
        return [*self.values(), *([rest] if rest.requests != RequestCounts() else [])]

    def kept(self, origin: Origin | None) -> OriginStats:
        """The row that counts a request of before."""
        return self.get(origin, self._rest)

    def __missing__(self, origin: Origin | None) -> OriginStats:
        """A new row, or that of the rest; None: the URL has no robots.txt."""
        if origin is None or (len(self) >= MAX_ORIGINS and not self._make_room()):
            return self._rest
        self._unremarkable.append(origin)
        row = self[origin] = OriginStats(origin)
        return row

    def _make_room(self) -> bool:
        """Count an unremarkable origin with the rest, if there is one."""
        self.is_cut = True
        for _ in range(len(self._unremarkable)):
            origin = self._unremarkable.popleft()
            if self[origin].pending_since is not None:
                self._unremarkable.append(origin)
            elif not (self[origin].refused_by or self[origin].was_slow(self._slow)):
                self._rest.include(self.pop(origin))
                return True
        return False

    def wait_began(self, origin: Origin, now: float) -> None:
        """Requests wait for the robots.txt of *origin* from *now* on."""
        row = self[origin]
        row.pending_since = now
        if row.first_asked is None:
            row.first_asked = now

    def wait_ended(self, origin: Origin, now: float) -> None:
        """No request waits any more: *origin* has answered or is given up."""
        row = self[origin]
        if row.pending_since is None:
            return
        seconds = max(0.0, now - row.pending_since)
        if seconds > row.wait_seconds:
            row.wait_began, row.wait_seconds = row.pending_since, seconds
        row.pending_since = None

    def fetched(self, done: FetchDone, waiting: int, now: float) -> None:
        """An attempt ended at *now*, while *waiting* requests waited."""
        record, found = done.record, done.found
        assert record is not None
        row, failed = self[record.origin], record.has_failed
        row.asked += 1
        row.seconds = max(row.seconds, now - done.started)
        if row.first_asked is None:
            row.first_asked = done.started
        row.answer = "unreachable" if failed else record.meaning
        row.doubt = None if failed else record.doubt_in_words
        row.status = record.failure_status if failed else record.status
        failure = failure_words(record.failure)
        row.failure = failure if failed else record.redirect_error
        row.hops = len(record.hops)
        row.redirects = record.hops
        row.bytes = len(record.body)
        row.words = answer_in_words(record)
        if len(self) <= MAX_FILES:
            row.file = found.robots if isinstance(found, Resolved) else None
        row.truncated = record.truncated
        if failed:
            row.failed += 1
            has_room = failure in row.failures or len(row.failures) < TOP
            row.failures[failure if has_room else "other"] += 1
        elif row.answered is None:
            row.answered = now
        if isinstance(found, Resolved):
            if found.action is Action.REFUSE:
                row.given_up += waiting
            else:
                row.waited += waiting

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* was refused."""
        if decision.origin is None:
            return
        row = self[decision.origin]
        line, rule, pattern = deciding_line(decision)
        cause = row.origin, decision.reason, line, rule
        has_room = len(row.refused_by) < MAX_RULES and len(self._refusals) < MAX_ALL_RULES
        if cause not in self._refusals and (row is self._rest or not has_room):
            self.is_cut = True
            line = rule = pattern = None
            cause = row.origin, decision.reason, line, rule
        refusal = self._refusals.get(cause)
        if refusal is None:
            refusal = self._refusals[cause] = RefusalStats(decision.reason, line, rule, pattern)
            row.refused_by.append(refusal)
        refusal.count += 1
        if len(refusal.examples) < MAX_EXAMPLES and self._examples < MAX_ALL_EXAMPLES:
            self._examples += 1
            refusal.examples.append(cut(without_user_info(url)))
