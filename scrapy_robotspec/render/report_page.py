"""The report of a crawl as a page without scripts or network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.render import report_tables as tables
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.report_waits import waits_of
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import duration

if TYPE_CHECKING:
    from scrapy_robotspec.render.crawl_report import CrawlReport

#: Up to this number of origins, their tables are open.
_MAX_OPEN = 25


def report_page(report: CrawlReport) -> str:
    """The page; below 5 MB for any number of origins."""
    origins = report.origins
    return render(
        "report.html",
        now=report.now,
        report=report,
        state=_state(report),
        let_through=sum(each.let_through for each in origins),
        refused=sum(each.refused for each in origins),
        dry_run=_dry_run(report),
        totals=[("started", utc(report.started)), *tables.totals(origins)],
        groups=list(tables.answer_groups(origins)),
        is_open=len(origins) <= _MAX_OPEN,
        by_line=tables.by_line(origins),
        by_reason=tables.by_reason(origins),
        words=tables.reason_words,
        waits=waits_of(report),
        failures=tables.failures(origins),
        redirects=tables.redirects(origins),
        truncated=tables.truncated(origins),
        overrides=tables.overrides(origins),
        usage=tables.usage(origins),
    )


def _state(report: CrawlReport) -> str:
    length = duration(max(0.0, report.now - report.started))
    if report.finished is None:
        return f"The crawl had not ended at {utc(report.now)}, {length} after its start."
    return f"The crawl ended at {utc(report.now)} after {length} ({report.finished})."


def _dry_run(report: CrawlReport) -> str:
    """The meaning of the numbers in a dry run; empty for another crawl."""
    if report.differences is None:
        return ""
    counts = ", ".join(f"{number:,} {words}" for words, number in report.differences.items())
    return (
        "Dry run: Scrapy's own middleware decided. This page shows what the plugin would have "
        f"done. Requests compared: {counts}."
    )
