"""The report of a crawl as a page without scripts or network."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.render import report_tables as tables
from scrapy_robotspec.render.html_base import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.render.crawl_report import CrawlReport

#: Up to this number of origins, their tables are open.
_MAX_OPEN = 25


def report_page(report: CrawlReport) -> str:
    """The page; below 5 MB for any number of origins."""
    origins = report.origins
    groups = list(tables.answer_groups(origins))
    through = sum(each.let_through for each in origins)
    requests = Counter[str]()  # refused ones by reason
    for origin in origins:
        for refusal in origin.refused_by:
            requests[refusal.reason] += refusal.count
    return render(
        "report.html",
        now=report.now,
        report=report,
        tables=tables,
        through=through,
        every=through + sum(each.refused for each in origins),
        bars=[  # words, number and style of each part
            ("Requests", list(_request_parts(through, requests))),
            ("Origins", [(_title(each), each.number, each.style) for each in groups]),
        ],
        groups=groups,
        is_open=len(origins) <= _MAX_OPEN,
    )


def _request_parts(through: int, requests: Counter[str]) -> Iterator[tuple[str, int, str]]:
    yield "let through", through, "good"
    for reason, number in requests.most_common():
        words = "by rules" if reason == "rule" else tables.reason_words(reason)
        yield f"refused {words}", number, "note" if reason == "unreachable" else "bad"


def _title(group: tables.AnswerGroup) -> str:
    return group.title[0].lower() + group.title[1:]
