"""CrawlAccount: the counts of a crawl."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import (
    PageCounter,
    RequestCounts,
    answer_in_words,
    outcome_of,
)
from scrapy_robotspec.access.reasons import failure_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.account import Outlook
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.overrides import Override
    from scrapy_robotspec.lookup import FetchDone

#: Max rules that are counted; the rarest are dropped first.
RULES_COUNTED = 1000
#: Max origins that are remembered: unreachable ones, overridden ones, and those with a delay.
ORIGINS_COUNTED = 100_000
#: Max stored length of a rule or a URL (characters).
MAX_TEXT = 200
#: Stat of responses whose requests did not reach the middleware.
NEVER_DECIDED = "robotspec/never_decided"
#: Answers of origins: an override replaces the robots.txt, or there is none yet.
OVERRIDDEN, NONE_SO_FAR = "with an override", "without an answer so far"


class CrawlAccount:
    """The counts of all origins together, of bounded size.

    Times are in epoch seconds, durations in seconds.
    """

    def __init__(self) -> None:
        self._requests = RequestCounts()
        self.of_pages = PageCounter()
        """Stats that pages add to."""
        self.answers: Counter[str] = Counter()
        """Origins by the result of their latest attempt."""
        self.down: dict[Origin, str] = {}
        """Unreachable origins, the first ones, with the failure."""
        self.rules: Counter[tuple[Origin, int, str]] = Counter()
        """Refused requests by origin, line number and beginning of the line."""
        self.replaced: set[Origin] = set()
        """Origins whose robots.txt an override replaces: nothing is asked for."""
        self.delays_not_kept: dict[Origin, float] = {}
        self.differences: dict[str, int] | None = None
        """Requests of a dry run, by how our decision compares with Scrapy's."""

    def requests(self) -> RequestCounts:
        """All requests."""
        return self._requests

    # --- requests

    def requests_of(self, origin: Origin | None) -> RequestCounts:
        """The counts to which a request adds.

        *origin* None: its URL has no robots.txt.
        """
        return self._requests

    def kept(self, origin: Origin | None, sent: bool = False) -> RequestCounts:
        """The counts that contain a request of before.

        *sent*: its page counts there as one that has left.
        """
        return self._requests

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* is refused."""
        origin = decision.origin
        self.requests_of(origin).by_outcome[outcome_of(False, decision.reason)] += 1
        line, rule, _ = deciding_line(decision)
        if origin is not None and line is not None:
            assert rule is not None
            self.rules[origin, line, rule] += 1
            if len(self.rules) > 2 * RULES_COUNTED:
                self.rules = Counter(dict(self.rules.most_common(RULES_COUNTED)))

    def count_usage(self, counts: Mapping[str, str], origin: Origin) -> None:
        """The preferences of one page of *origin*, by declared label."""
        for label, preference in counts.items():
            self.of_pages[f"robotspec/usage/{label}/{preference}"] += 1

    def overridden(self, override: Override, origin: Origin) -> None:
        """An override of the user was applied to a request."""
        for kind in override.kinds:
            self.of_pages[f"robotspec/override/{kind}"] += 1
        if override.replacement is not None and len(self.replaced) < ORIGINS_COUNTED:
            self.replaced.add(origin)

    def delay_not_kept(self, origin: Origin, delay: float) -> None:
        """*origin* asks for a crawl delay that is not kept (EXT-01)."""
        if len(self.delays_not_kept) < ORIGINS_COUNTED or origin in self.delays_not_kept:
            self.delays_not_kept[origin] = delay

    def spaced(self, origin: Origin, delay: float) -> None:
        """Pages of *origin* are requested *delay* seconds apart."""

    # --- waits and fetches

    def wait_began(self, origin: Origin, now: float) -> None:
        """Requests wait for the robots.txt of *origin* from *now* on."""

    def wait_ended(self, origin: Origin, since: float, now: float) -> None:
        """No request waits any more: *origin* has answered or is given up."""

    def waits_on(self, origin: Origin, outlook: Outlook) -> None:
        """An attempt failed, and the requests of *origin* go on waiting."""

    def fetched(self, done: FetchDone, waiting: int, now: float) -> None:
        """An attempt ended at *now*, while *waiting* requests waited."""
        record, before = done.record, done.held
        assert record is not None
        if before is not None:  # maybe counted by another crawl: nothing falls below 0
            self.answers -= Counter([answer_in_words(before)])
        self.answers[answer_in_words(record)] += 1
        if not record.is_unreachable:
            self.down.pop(record.origin, None)
        elif record.origin in self.down or len(self.down) < ORIGINS_COUNTED:
            self.down[record.origin] = failure_words(record.failure)


def deciding_line(decision: Decision) -> tuple[int | None, str | None, str | None]:
    """Number, text and path pattern of the deciding line, cut."""
    if decision.usage is not None:
        from scrapy_robotspec.access.usage_policy import as_written

        statement = decision.usage.statement
        return decision.usage.line, None if statement is None else cut(as_written(statement)), None
    rule = decision.verdict.rule if decision.verdict is not None else None
    return (None, None, None) if rule is None else (rule.line, cut(rule.text), cut(rule.pattern))


def cut(text: str) -> str:
    """*text*, at most :data:`MAX_TEXT` characters of it."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


# --- the table
