"""The report of a crawl as a page without scripts or network."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.render import report_tables as tables
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.text import count, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.render.crawl_report import CrawlReport, OriginStats

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
        causes=_causes(origins, requests),
        bars=[  # words, number and style of each part
            ("Requests", list(_request_parts(through, requests))),
            ("Origins", [(_title(each), each.number, each.style) for each in groups]),
        ],
        groups=groups,
        is_open=len(origins) <= _MAX_OPEN,
    )


def _causes(origins: Sequence[OriginStats], requests: Counter[str]) -> str:
    """A sentence: how many requests were refused why, at how many sites; empty for none."""
    sites = Counter(
        reason for each in origins for reason in {refusal.reason for refusal in each.refused_by}
    )
    were = "was" if sites["unreachable"] == 1 else "were"
    causes = {
        "rule": f"by rules of {count(sites['rule'], 'site')}",
        "unreachable": f"because {count(sites['unreachable'], 'site')} {were} unreachable",
    }
    parts = [
        (number, causes.get(reason, tables.reason_words(reason)))
        for reason, number in requests.most_common()
    ]
    if len(parts) < 2:
        return "".join(f"{number:,} refused {cause}." for number, cause in parts)
    each = listed([f"{number:,} {cause}" for number, cause in parts])
    return f"{requests.total():,} refused: {each}."


def _request_parts(through: int, requests: Counter[str]) -> Iterator[tuple[str, int, str]]:
    yield "let through", through, "good"
    for reason, number in requests.most_common():
        words = "by rules" if reason == "rule" else tables.reason_words(reason)
        yield f"refused {words}", number, "note" if reason == "unreachable" else "bad"


def _title(group: tables.AnswerGroup) -> str:
    return group.title[0].lower() + group.title[1:]
