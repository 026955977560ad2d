"""OriginRows: the account of a crawl by origin, for its report.

The thread of the report reads it while the crawl goes on counting: nothing is removed from its
numbers.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import RequestCounts, answer_in_words, wait_end
from scrapy_robotspec.access.origin import Origin, without_user_info
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import failure_words
from scrapy_robotspec.lookup import FetchDone, Resolved
from scrapy_robotspec.plugin.reporting.crawl_account import (
    OVERRIDDEN,
    CrawlAccount,
    cut,
    deciding_line,
)
from scrapy_robotspec.render.crawl_report import MAX_FILES, OriginStats, RefusalStats, total_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.account import Outlook
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.overrides import Override
    from scrapy_robotspec.plugin.settings.settings import Settings

#: Origin, reason, and the deciding line with its text and path pattern.
_Cause = tuple[str, str, int | None, str | None, str | None]
#: Max origins with a row of their own.
MAX_ORIGINS = 100_000
#: Max rules that are counted one by one, of one row and of all. Further ones are counted together,
#: for each row and reason.
MAX_RULES, MAX_ALL_RULES = 100, 10_000
#: Max URLs that are kept as examples of refused requests, for each rule and for all.
MAX_EXAMPLES, MAX_ALL_EXAMPLES = 10, 10_000
#: Max kinds of failure of an origin.
MAX_FAILURES = 5


class OriginRows(CrawlAccount, dict["Origin | None", OriginStats]):
    """The rows of origins, in order of appearance, made on first use.

    Origins beyond :data:`MAX_ORIGINS` without a refusal, a failure or a wait of
    ``ROBOTSPEC_PROGRESS_AFTER`` are counted together.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.slow = settings.progress_after or math.inf
        """Duration of a wait that is worth a word."""
        self._rest = OriginStats("")
        """Requests without a row of their own. Only its sums mean anything."""
        self._unremarkable: deque[Origin] = deque()
        """Origins that may have to make room for others."""
        self._refusals: dict[_Cause, RefusalStats] = {}
        self._examples = 0
        self.is_cut = False
        """Whether a bound was reached."""

    # --- rows

    def rows(self, waiting: Mapping[str, int] | None = None) -> list[OriginStats]:
        """The origins, and one row for the requests that have none.

        *waiting*: the requests that wait now, by origin; None: the rows keep their last numbers.
        """
        rows, rest = [*self.values()], total_of([self._rest])
        rest.refused_by = self._rest.refused_by
        if waiting is not None:
            others = dict(waiting)
            for row in rows:
                row.waiting = others.pop(row.origin, 0)
            new = list(islice(others, MAX_ORIGINS - len(rows)))
            rows += [OriginStats(origin, waiting=others.pop(origin)) for origin in new]
            rest.waiting = sum(others.values())
        return [*rows, *([rest] if rest.waiting or rest.requests != RequestCounts() else [])]

    def requests(self) -> RequestCounts:
        """All requests."""
        return total_of(self.rows()).requests

    def requests_of(self, origin: Origin | None) -> RequestCounts:
        """The counts of the row of *origin*."""
        return self[origin].requests

    def kept(self, origin: Origin | None, sent: bool = False) -> RequestCounts:
        """The counts of the row that counts a request of before.

        That row may have made room, and *origin* have a new one without the request.
        """
        counts = self.get(origin, self._rest).requests
        is_there = sent or not self.is_cut or counts.not_sent  # hot path
        return counts if is_there else self._rest.requests

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
            row = self[origin]
            if row.pending_since is not None:
                self._unremarkable.append(origin)
            elif not (row.refused_by or row.was_slow(self.slow)):
                self._rest.include(self.pop(origin))
                return True
        return False

    # --- requests

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* is refused."""
        super().refused(decision, url)
        row = self[decision.origin]
        cause: _Cause = row.origin, decision.reason, *deciding_line(decision)
        has_room = len(row.refused_by) < MAX_RULES and len(self._refusals) < MAX_ALL_RULES
        if cause not in self._refusals and (row is self._rest or not has_room):
            self.is_cut = True
            cause = row.origin, decision.reason, None, None, None
        refusal = self._refusals.get(cause)
        if refusal is None:
            refusal = self._refusals[cause] = RefusalStats(*cause[1:])
            row.refused_by.append(refusal)
        refusal.count += 1
        if len(refusal.examples) < MAX_EXAMPLES and self._examples < MAX_ALL_EXAMPLES:
            self._examples += 1
            refusal.examples.append(cut(without_user_info(url)))

    def count_usage(self, counts: Mapping[str, str], origin: Origin) -> None:
        """The preferences of one page of *origin*, by declared label."""
        super().count_usage(counts, origin)
        for label, preference in counts.items():
            self[origin].usage[label][preference] += 1

    def overridden(self, override: Override, origin: Origin) -> None:
        """An override of the user was applied to a request."""
        super().overridden(override, origin)
        row = self[origin]
        row.overrides.update(override.kinds)
        if override.replacement is not None:
            row.words = OVERRIDDEN

    def delay_not_kept(self, origin: Origin, delay: float) -> None:
        """*origin* asks for a crawl delay that is not kept (EXT-01)."""
        super().delay_not_kept(origin, delay)
        self[origin].delay_not_kept = delay

    def spaced(self, origin: Origin, delay: float) -> None:
        """Pages of *origin* are requested *delay* seconds apart."""
        self[origin].crawl_delay = delay

    # --- waits and fetches

    def wait_began(self, origin: Origin, now: float) -> None:
        """Requests wait for the robots.txt of *origin* from *now* on."""
        row = self[origin]
        row.pending_since = now
        if row.first_asked is None:
            row.first_asked = now
            row.words = "no answer so far"

    def wait_ended(self, origin: Origin, since: float, now: float) -> None:
        """No request waits any more: *origin* has answered or is given up."""
        row, seconds = self[origin], max(0.0, now - since)
        if seconds > row.wait_seconds:
            row.wait_began, row.wait_seconds = since, seconds
        row.pending_since = row.outlook = None

    def waits_on(self, origin: Origin, outlook: Outlook) -> None:
        """An attempt failed, and the requests of *origin* go on waiting."""
        self[origin].outlook = outlook

    def fetched(self, done: FetchDone, waiting: int, now: float) -> None:
        """An attempt ended at *now*, while *waiting* requests waited."""
        super().fetched(done, waiting, now)
        record, found = done.record, done.found
        assert record is not None
        row, failed = self[record.origin], record.is_unreachable
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
        row.bytes, row.fetched = len(record.body), record.fetched_at
        row.words = answer_in_words(record)
        row.truncated = record.truncated
        if len(self) <= MAX_FILES:
            row.file = found.robots if isinstance(found, Resolved) else None
        if record.has_failed:
            row.failed += 1
            has_room = failure in row.failures or len(row.failures) < MAX_FAILURES
            row.failures[failure if has_room else "other"] += 1
        elif row.answered is None:
            row.answered = now
        if not (waiting and isinstance(found, Resolved)):
            return
        row.wait_end = wait_end(done.held, found.record, found.reason)
        if found.action is Action.REFUSE:
            row.given_up += waiting
        else:
            row.waited = max(row.waited, waiting)  # they may wait again when the copy expires
