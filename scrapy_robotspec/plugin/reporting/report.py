"""Report: keeps the file of ``ROBOTSPEC_REPORT`` up to date during the crawl."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from twisted.internet.defer import CancelledError

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.reporting.origin_stats import OriginStatsTable
from scrapy_robotspec.plugin.reporting.report_file import ReportFile, unwritable
from scrapy_robotspec.render.crawl_report import CrawlReport, report_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

logger = logging.getLogger("scrapy_robotspec")

#: Shortest time between two updates (seconds).
MIN_PAUSE = 1.0
#: Pause after an update, as a multiple of its duration: updates take at most 2% of the time.
PAUSE_FACTOR = 50


class Report:
    """The report of one crawl: its counts and its file.

    The file is written in another thread. ``create`` is called first, ``close`` last.
    *differences*: the counts of a dry run.
    """

    def __init__(
        self,
        crawler: Crawler,
        setting: str,
        differences: Mapping[str, int] | None = None,
    ) -> None:
        self.origins = OriginStatsTable()
        self._crawler = crawler
        self._setting = setting
        self._differences = differences
        self._started = time.time()
        self._threads = _compat.Threads(1)
        self._updating: Deferred[None] | None = None
        self._is_failing = False

    def create(self) -> None:
        """Create the file. Raises ``ConfigurationError`` if that is impossible."""
        contents = self._contents(self._state())  # first, so that the file is hardly ever empty
        self._file = ReportFile.create(self._setting, self._spider, self._started)
        try:
            self._file.replace(contents)
        except OSError as error:
            self._file.path.unlink()
            raise unwritable(self._setting, error) from error

    def open(self) -> None:
        """Begin to keep the file up to date."""
        self._updating = _compat.deferred(self._keep_up_to_date())
        self._updating.addErrback(end_quietly)

    async def close(self, reason: str) -> None:
        """Write the final contents; *reason* is why the crawl ended."""
        if self._updating is not None:  # None: the spider was never opened
            self._updating.cancel()
        await self._write_in_thread(self._state(reason))
        self._threads.close()
        if not self._is_failing:
            logger.info("ROBOTSPEC_REPORT: the report of this crawl is %s", self._file.path)

    async def _keep_up_to_date(self) -> None:
        pause = MIN_PAUSE
        while True:
            await _compat.sleep(pause)
            begin = time.monotonic()
            await self._write_in_thread(self._state())
            pause = max(MIN_PAUSE, PAUSE_FACTOR * (time.monotonic() - begin))

    @property
    def _spider(self) -> str:
        spider = self._crawler.spider
        return spider.name if spider is not None else self._crawler.spidercls.name

    def _state(self, finished: str | None = None) -> CrawlReport:
        """The counts as they are now; *finished*: why the crawl has ended."""
        rows = [row.copy() for row in self.origins.values()]
        return CrawlReport(
            self._spider, self._started, time.time(), finished, rows, self._differences
        )

    # --- writing

    async def _write_in_thread(self, state: CrawlReport) -> None:
        try:
            await _compat.as_future(self._threads(self._write, state))
        except CancelledError:
            raise
        except Exception as error:  # no fault of a report may end a crawl
            self._log_failure(error)
        else:
            self._is_failing = False

    def _write(self, state: CrawlReport) -> None:
        self._file.replace(self._contents(state))

    def _contents(self, state: CrawlReport) -> Iterable[str]:
        if not self._setting.lower().endswith(".html"):
            return report_lines(state)
        from scrapy_robotspec.render.report_page import report_page  # most crawls need no Jinja2

        return [report_page(state)]

    def _log_failure(self, error: Exception) -> None:
        """Log the first of several failures: the crawl goes on, and so do the attempts."""
        if not self._is_failing:
            logger.error(
                "ROBOTSPEC_REPORT: %s cannot be written: %s. The crawl goes on, and the file keeps "
                "its last contents until an attempt succeeds",
                self._file.path,
                error,
                exc_info=None if isinstance(error, OSError) else error,
            )
        self._is_failing = True


def end_quietly(failure: Failure) -> None:
    """Swallow a cancellation."""
    if not isinstance(failure.value, CancelledError):
        failure.raiseException()
