"""Report: counts for each origin, and the file of ``ROBOTSPEC_REPORT``.

Loaded where a report is wanted. A thread writes the file from the counts while the crawl goes on
counting: nothing is removed from them.
"""

from __future__ import annotations

import logging
import re
import time
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import has_failed
from scrapy_robotspec.access.outcome import Meaning, without_user_info
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import failure_words
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.files import replacing
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.reporting.summary import TOP, cut, deciding_line
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats, report_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import FetchDone

logger = logging.getLogger("scrapy_robotspec")

#: Shortest time between two updates (seconds).
MIN_PAUSE = 1.0
#: Pause after an update, as a multiple of its duration: updates take at most 2% of the time.
PAUSE_FACTOR = 50
#: Max URLs that are kept as examples of refused requests, for each rule.
MAX_EXAMPLES = 3
#: Max rules of one origin that are counted one by one. Further ones are counted together, for each
#: reason.
MAX_RULES = 100


class Report:
    """The report of one crawl: its counts and its file.

    ``create`` is called first, ``end`` and ``close`` last. *differences*: the counts of a dry run.
    """

    def __init__(
        self, crawler: Crawler, setting: str, differences: Mapping[str, int] | None = None
    ) -> None:
        assert crawler.spider is not None
        self.origins = OriginStatsTable()
        self._spider = crawler.spider.name
        self._setting = setting
        self._differences = differences
        self._started = time.time()
        self._finished: str | None = None
        self._end = Event()
        self._thread = Thread(target=self._keep_up_to_date, daemon=True)
        self._is_failing = False

    def create(self) -> None:
        """Create the file.

        A number is added to its name if it exists. Raises ``ConfigurationError`` if the system
        refuses.
        """
        wanted = Path(expand(self._setting, self._spider, self._started)).absolute()
        for number in count(1):
            self._path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
            try:
                with self._path.open("x", encoding="utf-8", newline="\n") as file:
                    file.writelines(self._contents())
            except FileExistsError:
                continue
            except OSError as error:
                expected = f"the path of a file that this process can write ({error.strerror})"
                raise wrong("ROBOTSPEC_REPORT", self._setting, expected) from error
            break
        self._log_path()

    def open(self) -> None:
        """Begin to keep the file up to date."""
        self._thread.start()

    def end(self, reason: str) -> None:
        """Begin to write the final contents; *reason* is why the crawl ended."""
        self._finished = reason
        self._end.set()
        if self._thread.ident is None:  # the spider was never opened
            self._thread.start()

    async def close(self) -> None:
        """Wait until the final contents are written."""
        threads = _compat.Threads()
        await _compat.as_future(threads(self._thread.join))
        threads.close()
        if not self._is_failing:
            self._log_path()

    def _log_path(self) -> None:
        logger.info("ROBOTSPEC_REPORT: the report of this crawl is %s", self._path)

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
        origins = list(self.origins.values())
        if any(self.origins.rest.requests.to_json().values()):
            origins.append(self.origins.rest)
        if not self._setting.lower().endswith(".html"):
            return report_lines(origins)
        from scrapy_robotspec.render.report_page import report_page  # most crawls need no Jinja2

        page = report_page(
            origins,
            spider=self._spider,
            started=self._started,
            now=time.time(),
            finished=self._finished,
            differences=self._differences,
        )
        return [page]


def expand(setting: str, spider: str, now: float) -> str:
    """The path that *setting* means for a crawl.

    The time is written as in Scrapy's feeds.
    """
    moment = datetime.fromtimestamp(now, timezone.utc).replace(microsecond=0)
    values = {"name": spider, "time": moment.isoformat().replace(":", "-")}
    return re.sub(r"\{(\w+)\}|%\((\w+)\)s", lambda match: values[match[1] or match[2]], setting)


class OriginStatsTable(dict["Origin", OriginStats]):
    """The :class:`OriginStats` of all origins, in order of appearance.

    Each is made on first use. Memory is bounded by the number of origins: of refused requests it
    keeps a count for each rule, and the first URLs. Times are in epoch seconds, durations in
    seconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rest = OriginStats("")
        """Requests without a row of their own."""
        self._refusals: dict[tuple[Origin, str, int | None, str | None], RefusalStats] = {}

    def of(self, origin: Origin | None) -> OriginStats:
        """The row that counts a request to *origin*.

        None: its URL has no robots.txt.
        """
        return self.rest if origin is None else self[origin]

    def __missing__(self, origin: Origin) -> OriginStats:
        row = self[origin] = OriginStats(origin)
        return row

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
        record = done.record
        if record is None:
            return
        row, failed = self[record.origin], has_failed(record)
        row.asked += 1
        row.seconds = max(row.seconds, done.seconds)
        if row.first_asked is None:
            row.first_asked = now - done.seconds
        meaning = Meaning.UNREACHABLE if failed or record.meaning is None else record.meaning
        row.answer = meaning.value
        row.doubt = None if failed else record.doubt_in_words
        row.status = record.failure_status if failed else record.status
        failure = failure_words(record.failure)
        row.failure = failure if failed else record.redirect_error
        row.hops = len(record.hops)
        row.redirects = record.hops
        row.bytes = len(record.body)
        row.truncated = record.truncated
        if failed:
            row.failed += 1
            has_room = failure in row.failures or len(row.failures) < TOP
            row.failures[failure if has_room else "other"] += 1
        elif row.answered is None:
            row.answered = now
        if isinstance(done.found, Resolved):
            if done.found.action is Action.REFUSE:
                row.given_up += waiting
            else:
                row.waited += waiting

    def overridden(self, kinds: tuple[str, ...], origin: Origin) -> None:
        """An override of each of *kinds* was applied to a request."""
        for kind in kinds:
            self[origin].overrides[kind] += 1

    def usage(self, preferences: Mapping[str, str], origin: Origin) -> None:
        """The preferences of one page, by declared label."""
        for label, preference in preferences.items():
            self[origin].usage[label][preference] += 1

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* was refused."""
        if decision.origin is None:
            return
        row = self[decision.origin]
        line, rule, pattern = deciding_line(decision)
        cause = decision.origin, decision.reason, line, rule
        if cause not in self._refusals and len(row.refused_by) >= MAX_RULES:
            line = rule = pattern = None
            cause = decision.origin, decision.reason, line, rule
        refusal = self._refusals.get(cause)
        if refusal is None:
            refusal = self._refusals[cause] = RefusalStats(decision.reason, line, rule, pattern)
            row.refused_by.append(refusal)
        refusal.count += 1
        if len(refusal.examples) < MAX_EXAMPLES:
            refusal.examples.append(cut(without_user_info(url)))
