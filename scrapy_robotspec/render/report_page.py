"""The report of a crawl as a page without scripts or network."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.render import report_tables as tables
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import count, duration, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.render.crawl_report import CrawlReport, OriginStats

#: Up to this number of origins, their tables are open.
_MAX_OPEN = 25


class Part(NamedTuple):
    """A part of a stacked bar."""

    words: str
    number: int
    style: str
    share: float
    """Percent of the bar."""


def report_page(report: CrawlReport) -> str:
    """The page; below 5 MB for any number of origins."""
    origins = report.origins
    groups = list(tables.answer_groups(origins))
    return render(
        "report.html",
        now=report.now,
        report=report,
        headline=_headline(origins),
        causes=_causes(origins),
        state=_state(report),
        dry_run=_dry_run(report),
        bars=[
            ("Requests", _bar(_request_parts(origins))),
            ("Origins", _bar(_origin_parts(groups))),
        ],
        groups=groups,
        is_open=len(origins) <= _MAX_OPEN,
        refused=tables.refusals(origins),
        further=tables.further_tables(origins, report.now),
    )


def _headline(origins: Sequence[OriginStats]) -> str:
    """``200 of 1,400 requests let through``."""
    through = sum(each.let_through for each in origins)
    every = through + sum(each.refused for each in origins)
    return f"{through:,} of {count(every, 'request')} let through"


def _causes(origins: Sequence[OriginStats]) -> str:
    """A sentence: how many requests were refused why, at how many sites; empty for none."""
    requests, sites = _refused(origins)
    down = (
        f"because {count(sites['unreachable'], 'site')} {_were(sites['unreachable'])} unreachable"
    )
    causes = {"rule": f"by rules of {count(sites['rule'], 'site')}", "unreachable": down}
    parts = [
        (number, causes.get(reason, tables.reason_words(reason)))
        for reason, number in requests.most_common()
    ]
    if len(parts) < 2:
        return "".join(f"{number:,} refused {cause}." for number, cause in parts)
    each = listed([f"{number:,} {cause}" for number, cause in parts])
    return f"{requests.total():,} refused: {each}."


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _refused(origins: Sequence[OriginStats]) -> tuple[Counter[str], Counter[str]]:
    """Refused requests, and sites that they belong to, by reason."""
    requests: Counter[str] = Counter()
    sites: Counter[str] = Counter()
    for origin in origins:
        sites.update({refusal.reason for refusal in origin.refused_by})
        for refusal in origin.refused_by:
            requests[refusal.reason] += refusal.count
    return requests, sites


def _request_parts(origins: Sequence[OriginStats]) -> Iterator[tuple[str, int, str]]:
    requests, _ = _refused(origins)
    yield "let through", sum(each.let_through for each in origins), "good"
    for reason, number in requests.most_common():
        words = "by rules" if reason == "rule" else tables.reason_words(reason)
        yield f"refused {words}", number, "note" if reason == "unreachable" else "bad"


def _origin_parts(groups: Sequence[tables.AnswerGroup]) -> Iterator[tuple[str, int, str]]:
    for group in groups:
        words = group.title[0].lower() + group.title[1:]
        yield words, group.number, group.style


def _bar(parts: Iterable[tuple[str, int, str]]) -> list[Part]:
    found = [part for part in parts if part[1]]
    every = sum(number for _, number, _ in found)
    return [Part(*part, round(100 * part[1] / every, 3)) for part in found]


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
