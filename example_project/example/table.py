"""The table at the end: items in, text out, and the pipeline that collects the items."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy.crawler import Crawler

Item = dict[str, Any]

#: What a decision's reason means for the origin, in the words of the table.
MEANINGS = {
    "rule": "its rules decide",
    "no_rule": "its rules decide",
    "no_group": "its rules decide",
    "robots_txt_itself": "its rules decide",
    "unavailable": "no restrictions",
    "unreachable": "nothing may be crawled",
    "limit_passed": "unreachable for very long",
    "policy": "decided by a setting",
    "override": "decided by a setting",
}


class TablePipeline:
    """Collects the items of one crawl and hands them on when it ends."""

    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self.items: list[Item] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TablePipeline:
        """Scrapy's entry."""
        return cls(crawler)

    def process_item(self, item: Item, spider: object = None) -> Item:
        """Keep the item."""
        self.items.append(item)
        return item

    def close_spider(self, spider: object = None) -> None:
        """Print the table, or write the items where ``EXAMPLE_RESULTS`` says."""
        if path := self.crawler.settings["EXAMPLE_RESULTS"]:
            with open(path, "a", encoding="utf-8") as results:
                results.writelines(json.dumps(item) + "\n" for item in self.items)
        else:
            print(f"\n{table(self.items)}")


def table(items: Iterable[Item]) -> str:
    """The items as text: one line per origin, below it one line per refused page."""
    blocks: dict[tuple[str, str, str], list[Item]] = {}
    for item in sorted(items, key=lambda item: (item["place"], item["note"])):
        blocks.setdefault((item["mood"], item["origin"], item["note"]), []).append(item)
    rows = [HEAD, *(summary(*key, block) for key, block in blocks.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    details = [[], *(list(refusals(block)) for block in blocks.values())]
    lines: list[str] = []
    for row, below in zip(rows, details, strict=True):
        lines.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
        lines.extend(f"{'':{widths[0]}}  - {line}" for line in below)
    return "\n".join(lines)


HEAD = ("site", "origin", "robots.txt answered", "so", "crawled", "refused", "first after")


def summary(mood: str, origin: str, note: str, block: Sequence[Item]) -> tuple[str, ...]:
    """The line of one origin."""
    crawled = sum(item["crawled"] for item in block)
    name = f"{mood}, {note}" if note else mood
    counts = str(crawled), str(len(block) - crawled)
    first = f"{min(item['seconds'] for item in block):.1f} s"
    return name, origin, answered(block), meaning(block), *counts, first


def answered(block: Sequence[Item]) -> str:
    """What robots.txt answered, in words."""
    item = block[-1]
    status = str(item["status"]) if item["status"] else "nothing"
    if not item["hops"]:
        return status
    return f"{status} after {item['hops']} redirect{'s' if item['hops'] > 1 else ''}"


def meaning(block: Sequence[Item]) -> str:
    """What that meant for the pages of the origin."""
    return MEANINGS[block[-1]["reason"]]


def refusals(block: Iterable[Item]) -> Iterable[str]:
    """Each refused page and the line that refused it."""
    for item in sorted(block, key=lambda item: item["path"]):
        if item["crawled"]:
            continue
        if item["line"]:
            rule = " ".join(item["rule"].split())
            yield f"{item['path']}  refused by line {item['line']}: {rule}"
        else:
            yield f"{item['path']}  refused, {item['reason']}"
