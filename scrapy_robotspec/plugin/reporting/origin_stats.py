"""OriginStatsTable: counts for each origin of a crawl, for ``ROBOTSPEC_REPORT``.

Memory is bounded by the number of origins: of refused requests it keeps a count for each rule, and
the first URLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Meaning, without_user_info
from scrapy_robotspec.plugin.reporting.counts import Counts, answer_of, count_usage, deciding_line
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max URLs that are kept as examples of refused requests, for each rule.
MAX_EXAMPLES = 3
#: Max length of such a URL (characters).
MAX_EXAMPLE_LENGTH = 200
#: Max length of a rule or pattern (characters).
MAX_RULE_LENGTH = 120
#: Max rules of one origin, and of the crawl, that are counted one by one. Further ones are counted
#: together, for each origin and reason.
MAX_RULES = 100
MAX_RULES_OF_CRAWL = 20_000
#: Max kinds of failure that are counted one by one for each origin.
MAX_FAILURES = 5

#: Reason, line and rule of a refusal.
_Cause = tuple[str, int | None, str | None]


class OriginStatsTable(Counts):
    """The :class:`OriginStats` of all origins, in order of appearance."""

    def __init__(self) -> None:
        self._rows: dict[Origin, OriginStats] = {}
        self._refusals: dict[Origin, dict[_Cause, RefusalStats]] = {}
        self._rules = 0

    def rows(self) -> list[OriginStats]:
        """The rows, which go on counting."""
        return list(self._rows.values())

    def _row(self, origin: Origin) -> OriginStats:
        row = self._rows.get(origin)
        if row is None:
            row = self._rows[origin] = OriginStats(origin)
        return row

    # --- robots.txt

    def wait_began(self, origin: Origin, now: float) -> None:
        row = self._row(origin)
        row.pending_since = now
        if row.first_asked is None:
            row.first_asked = now

    def wait_ended(self, origin: Origin, now: float) -> None:
        row = self._row(origin)
        if row.pending_since is None:
            return
        seconds = max(0.0, now - row.pending_since)
        if seconds > row.wait_seconds:
            row.wait_began, row.wait_seconds = row.pending_since, seconds
        row.pending_since = None

    def fetched(
        self, record: RobotsRecord, before: RobotsRecord | None, seconds: float, now: float
    ) -> None:
        row, answer = self._row(record.origin), answer_of(record)
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
            _count(row.failures, record.failure or "no answer", MAX_FAILURES)
        elif row.answered is None:
            row.answered = now

    # --- requests

    def spaced(self, origin: Origin, delay: float) -> None:
        self._row(origin).crawl_delay = delay

    def delay_not_kept(self, origin: Origin, delay: float) -> None:
        self._row(origin).delay_not_kept = delay

    def let_through(self, origin: Origin) -> None:
        self._row(origin).let_through += 1

    def revoked(self, origin: Origin) -> None:
        self._row(origin).let_through -= 1

    def waited(self, origin: Origin, number: int) -> None:
        self._row(origin).waited += number

    def given_up(self, origin: Origin, number: int) -> None:
        self._row(origin).given_up += number

    def overridden(self, kinds: tuple[str, ...], origin: Origin) -> None:
        overrides = self._row(origin).overrides
        for kind in kinds:
            overrides[kind] = overrides.get(kind, 0) + 1

    def usage(self, counts: Mapping[str, str], origin: Origin) -> None:
        count_usage(self._row(origin).usage, counts)

    def refused(self, decision: Decision, url: str) -> None:
        if decision.origin is None:
            return
        self._row(decision.origin).refused += 1
        refusal = self._refusal(decision.origin, decision)
        refusal.count += 1
        if len(refusal.examples) < MAX_EXAMPLES:
            refusal.examples.append(_cut(without_user_info(url), MAX_EXAMPLE_LENGTH))

    def _refusal(self, origin: Origin, decision: Decision) -> RefusalStats:
        """The counter of refusals for the same cause.

        Made if needed and if there is room.
        """
        refusals = self._refusals.setdefault(origin, {})
        line, text = deciding_line(decision)
        rule = None if text is None else _cut(text, MAX_RULE_LENGTH)
        cause: _Cause = (decision.reason, line, rule)
        if cause not in refusals and rule is not None:
            if len(refusals) >= MAX_RULES or self._rules >= MAX_RULES_OF_CRAWL:
                cause = (decision.reason, None, None)
            else:
                self._rules += 1
        found = refusals.get(cause)
        if found is None:
            pattern = _pattern(decision) if cause[2] is not None else None
            found = refusals[cause] = RefusalStats(*cause, pattern)
            self._row(origin).refused_by.append(found)
        return found


def _pattern(decision: Decision) -> str | None:
    """The beginning of the path pattern that refused a request."""
    rule = decision.verdict.rule if decision.verdict is not None else None
    if rule is None or decision.usage is not None:
        return None
    return _cut(rule.pattern, MAX_RULE_LENGTH)


def _count(table: dict[str, int], key: str, longest: int) -> None:
    """Count *key*, or ``"other"`` where *table* has no room for another key."""
    if key not in table and len(table) >= longest:
        key = "other"
    table[key] = table.get(key, 0) + 1


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
