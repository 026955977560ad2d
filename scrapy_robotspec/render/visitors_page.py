"""The page of an access log: which crawlers keep to one robots.txt.

It has the form of a crawl's report, and its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.as_html import Note, listing, render
from scrapy_robotspec.render.text import count, duration, first_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.evidence.visitors import Visitor, VisitorAudit
    from scrapy_robotspec.render.parsed_file import ParsedFile

#: Max rows of each table, and max crawlers that are named at a line.
SHOWN = 100
_NAMED = 3


def fetch_words(visitor: Visitor) -> str:
    """Number of requests for robots.txt, and longest use of a copy."""
    if not visitor.robots_txt:
        return "never"
    age = f", used up to {duration(visitor.oldest_copy)}" if visitor.oldest_copy else ""
    late = f", {count(visitor.before, 'request')} before" if visitor.before else ""
    return f"{visitor.robots_txt:,}{age}{late}"


def delay_words(visitor: Visitor) -> str:
    """Whether a crawler kept its crawl delay; empty without one."""
    if visitor.crawl_delay is None:
        return ""
    gap = "" if visitor.shortest is None else f", shortest {duration(visitor.shortest)}"
    kept = f"{visitor.too_early:,} too early" if visitor.too_early else "kept"
    return f"{duration(visitor.crawl_delay)}: {kept}{gap}"


def visitors_page(audit: VisitorAudit, file: ParsedFile, **shown: Any) -> str:
    """The page, of bounded size.

    *shown*, for the template alone: ``now`` (epoch seconds), ``log``, ``name`` (of the file),
    ``site`` and ``notes``.
    """
    ranked = audit.ranked()
    asked = [each.tokens for each in ranked[:SHOWN]]
    return render(
        "visitors.html",
        audit=audit,
        ranked=ranked,
        broken=broken_rules(ranked),
        file=file,
        rows=listing(file, asked, _notes(ranked)),
        most=SHOWN,
        fetch_words=fetch_words,
        delay_words=delay_words,
        **shown,
    )


def broken_rules(ranked: Iterable[Visitor]) -> list[tuple[int, str, int | None, str, str]]:
    """Requests, crawler, line, rule and first URL, as the tables show them."""
    return [
        (number, each.name, rule.line, rule.text, url)
        for each in ranked
        for rule, (number, url) in sorted(each.broken.items(), key=lambda pair: -pair[1][0])
    ]


def _notes(ranked: Sequence[Visitor]) -> Iterator[Note]:
    by_line: dict[int, list[Visitor]] = {}
    for each in ranked:
        for rule in each.broken:
            by_line.setdefault(rule.line or 0, []).append(each)
    for line, visitors in by_line.items():
        yield line, f"broken by {first_of([each.name for each in visitors], _NAMED)}", "bad"
