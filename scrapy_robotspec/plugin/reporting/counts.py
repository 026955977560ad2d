"""Counts: events of a crawl, for its summary and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.usage_policy import as_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord


class Counts:
    """Base of what counts events; ignores all of them.

    Times are in epoch seconds, durations in seconds.
    """

    def fetched(
        self, record: RobotsRecord, before: RobotsRecord | None, seconds: float, now: float
    ) -> None:
        """An attempt of *seconds* that ended at *now* turned *before* into *record*."""

    def wait_began(self, origin: Origin, now: float) -> None:
        """Requests wait for the robots.txt of *origin* from *now* on."""

    def wait_ended(self, origin: Origin, now: float) -> None:
        """No request waits any more: *origin* has answered or is given up."""

    def waited(self, origin: Origin, number: int) -> None:
        """*number* waiting requests are released."""

    def given_up(self, origin: Origin, number: int) -> None:
        """*number* waiting requests are given up and refused."""

    def spaced(self, origin: Origin, delay: float) -> None:
        """Pages of *origin* are requested *delay* seconds apart."""

    def delay_not_kept(self, origin: Origin, delay: float) -> None:
        """*origin* asks for a delay of *delay* seconds, which is not kept."""

    def let_through(self, origin: Origin) -> None:
        """One request was allowed."""

    def revoked(self, origin: Origin) -> None:
        """One request that was allowed is refused after its download."""

    def refused(self, decision: Decision, url: str) -> None:
        """The request for *url* was refused."""

    def overridden(self, kinds: tuple[str, ...], origin: Origin) -> None:
        """An override of each of *kinds* was applied to a request."""

    def usage(self, counts: Mapping[str, str], origin: Origin) -> None:
        """The preferences of one page, by declared label."""


def answer_of(record: RobotsRecord | None) -> str | None:
    """Meaning of the latest attempt or its doubt, in the summary's words."""
    if record is None:
        return None
    if record.failed_at is not None and record.failed_at >= (record.fetched_at or 0.0):
        return Meaning.UNREACHABLE.value
    if record.no_robots_txt is not None:
        return record.no_robots_txt
    is_error = record.status in range(400, 500) and record.status not in (404, 410)
    if is_error and record.meaning is Meaning.ALLOW:  # a file may well exist
        return f"with HTTP status {record.status} (all allowed)"
    return record.meaning.value if record.meaning is not None else None


def deciding_line(decision: Decision) -> tuple[int | None, str | None]:
    """Number and text of the line that refused a request."""
    if decision.usage is not None:
        statement = decision.usage.statement
        return decision.usage.line, as_written(statement) if statement is not None else None
    rule = decision.verdict.rule if decision.verdict is not None else None
    return (None, None) if rule is None else (rule.line, rule.text)


def count_usage(table: dict[str, dict[str, int]], counts: Mapping[str, str]) -> None:
    """Add the preferences of one page to *table*, by label."""
    for label, preference in counts.items():
        pages = table.setdefault(label, {})
        pages[preference] = pages.get(preference, 0) + 1
