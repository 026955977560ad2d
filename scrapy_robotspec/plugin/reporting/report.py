"""Report: the file of ``ROBOTSPEC_REPORT``, which a thread keeps up to date."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.converters import wrong
from scrapy_robotspec.files import replacing
from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows
from scrapy_robotspec.plugin.settings.composite import file_of
from scrapy_robotspec.render.crawl_report import report_lines
from scrapy_robotspec.render.text import first_of
from scrapy_robotspec.store import shown_uri
from scrapy_robotspec.store.uri import sqlite_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
    from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
    from scrapy_robotspec.plugin.settings.settings import Settings

logger = logging.getLogger("scrapy_robotspec")

#: Shortest time between two updates (seconds).
MIN_PAUSE = 1.0
#: Pause after an update, as a multiple of its duration: updates take at most 2% of the time.
PAUSE_FACTOR = 50


class Report:
    """The report of one crawl.

    Creates an empty file, and its folder if needed; a number is added to the name if it exists.
    Raises ``ConfigurationError`` if the system refuses. ``end`` and ``close`` are called last.
    """

    def __init__(self, runtime: CrawlRuntime, account: CrawlAccount) -> None:
        crawler, settings, tokens = runtime.crawler, runtime.settings, runtime.tokens
        assert settings.report is not None
        assert isinstance(account, OriginRows)
        self._setting = settings.report
        self._in_force: dict[str, Any] = {
            "spider": str((crawler.spider or crawler.spidercls).name),  # a shell has none yet
            "started": time.time(),
            "token": str(tokens),
            "tokens": tokens.usual,
            "edition": settings.edition.name,
            "store": shown_uri(settings.cache),
            "keeps_delays": settings.crawl_delay,
            "overridden": first_of(tuple(settings.overrides or ()), 3),
            "slow": account.slow,
        }
        """Values of the settings, and the start, for the page."""
        self._account, self._live = account, runtime.live
        self._crawler = crawler
        self._finished: str | None = None
        self._end = Event()
        self._thread = Thread(target=self._keep_up_to_date, daemon=True)
        self._is_failing = False
        self._create(settings)

    def _create(self, settings: Settings) -> None:
        spider, started = self._crawler.spider or self._crawler.spidercls, self._in_force["started"]
        given = self._crawler.settings
        others = *given.getdict("FEEDS"), given["FEED_URI"] or "", sqlite_file(settings.cache)
        taken = {file_of(each, spider, started) for each in others}
        wanted = Path(file_of(self._setting, spider, started))
        logs = Path(settings.evidence or "").resolve() / "decisions-*"
        if str(wanted) in taken or (settings.evidence and wanted.match(str(logs))):
            expected = "a file that is not that of a feed, of the store or of evidence"
            raise wrong("ROBOTSPEC_REPORT", self._setting, expected)
        try:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                self._path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
                if str(self._path) in taken:
                    continue
                with suppress(FileExistsError):
                    self._path.touch(exist_ok=False)
                    break
        except OSError as error:
            expected = f"the path of a file that this process can write ({error})"
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
        self._update()  # takes longest, as it imports what it needs
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
        is_over = self._finished is not None  # what waits then is left to another crawl
        live = [] if is_over else list(self._live.values())
        waiting: dict[str, int] = {each.origin: each.queued + each.holds for each in live}
        origins = self._account.rows({origin: n for origin, n in waiting.items() if n})
        if not self._setting.lower().endswith(".html"):
            return report_lines(origins)
        from scrapy_robotspec.render.report_page import report_page  # most crawls need no Jinja2

        page = report_page(
            origins,
            now=time.time(),
            finished=self._finished,
            is_cut=self._account.is_cut,
            differences=self._account.differences,
            **self._in_force,
        )
        return [page]
