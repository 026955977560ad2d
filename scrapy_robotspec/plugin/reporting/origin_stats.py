"""OriginStatsTable: counts for each origin of a crawl, for ``ROBOTSPEC_REPORT``.

Memory is bounded by the number of origins: of refused requests it keeps a count for each rule, and
the first URLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Meaning, without_user_info
from scrapy_robotspec.plugin.reporting.summary import TOP, answer_of, cut, deciding_line
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max URLs that are kept as examples of refused requests, for each rule.
MAX_EXAMPLES = 3
#: Max rules of one origin that are counted one by one. Further ones are counted together, for each
#: reason.
MAX_RULES = 100


class OriginStatsTable(dict["Origin", OriginStats]):
    """The :class:`OriginStats` of all origins, in order of appearance.

    Each is made on first use. Times are in epoch seconds, durations in seconds.
    """

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

    def fetched(self, record: RobotsRecord, seconds: float, now: float) -> None:
        """An attempt of *seconds* that ended at *now* made *record*."""
        row, answer = self[record.origin], answer_of(record)
        failed = answer == Meaning.UNREACHABLE.value
        row.asked += 1
        row.seconds = max(row.seconds, seconds)
        if row.first_asked is None:
            row.first_asked = now - seconds
        row.answer = answer if failed or record.meaning is None else record.meaning.value
        row.doubt = None if failed else record.no_robots_txt
        row.status = record.failure_status if failed else record.status
        row.failure = record.failure if failed else record.redirect_error
        row.hops = len(record.hops)
        row.redirects = record.hops
        row.bytes = len(record.body)
        row.truncated = record.truncated
        if failed:
            row.failed += 1
            failure = record.failure or "no answer"
            has_room = failure in row.failures or len(row.failures) < TOP
            _count(row.failures, failure if has_room else "other")
        elif row.answered is None:
            row.answered = now

    def overridden(self, kinds: tuple[str, ...], origin: Origin) -> None:
        """An override of each of *kinds* was applied to a request."""
        for kind in kinds:
            _count(self[origin].overrides, kind)

    def usage(self, preferences: Mapping[str, str], origin: Origin) -> None:
        """The preferences of one page, by declared label."""
        for label, preference in preferences.items():
            _count(self[origin].usage.setdefault(label, {}), preference)

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* was refused."""
        if decision.origin is None:
            return
        row = self[decision.origin]
        row.refused += 1
        refusal = self._refusal(row, decision)
        refusal.count += 1
        if len(refusal.examples) < MAX_EXAMPLES:
            refusal.examples.append(cut(without_user_info(url)))

    def _refusal(self, row: OriginStats, decision: Decision) -> RefusalStats:
        """The counter of refusals for the same cause.

        Made if needed and if there is room.
        """
        line, rule, pattern = deciding_line(decision)
        found = _find(row, decision.reason, line, rule)
        if found is None and len(row.refused_by) >= MAX_RULES:
            line = rule = pattern = None
            found = _find(row, decision.reason, line, rule)
        if found is None:
            found = RefusalStats(decision.reason, line, rule, pattern)
            row.refused_by.append(found)
        return found


def _find(row: OriginStats, reason: str, line: int | None, rule: str | None) -> RefusalStats | None:
    cause = (reason, line, rule)
    same = (each for each in row.refused_by if (each.reason, each.line, each.rule) == cause)
    return next(same, None)


def _count(table: dict[str, int], key: str) -> None:
    table[key] = table.get(key, 0) + 1
