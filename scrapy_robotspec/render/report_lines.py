"""The report of a crawl as JSON: one line for each origin."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.as_json import dumps, hop_object
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_robotspec.render.crawl_report import CrawlReport


def report_lines(report: CrawlReport) -> Iterator[str]:
    """One line for each origin, in printable ASCII, with its line end."""
    for origin in report.origins:
        yield f"{dumps(_origin_object(origin))}\n"


def _origin_object(origin: OriginStats) -> dict[str, Any]:
    return {name: write(getattr(origin, name)) for name, write in _FIELDS.items()}


def _time(seconds: float | None) -> str | None:
    """Epoch seconds as ISO 8601 in UTC, to the millisecond."""
    if seconds is None:
        return None
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _refusal_object(refusal: RefusalStats) -> dict[str, Any]:
    return {each.name: getattr(refusal, each.name) for each in fields(RefusalStats)}


_FIELDS: dict[str, Callable[[Any], Any]] = {
    **{each.name: lambda value: value for each in fields(OriginStats)},
    "seconds": lambda seconds: round(seconds, 3),
    "redirects": lambda hops: [hop_object(hop) for hop in hops],
    "first_asked": _time,
    "answered": _time,
    "wait_began": _time,
    "wait_seconds": lambda seconds: round(seconds, 3),
    "pending_since": _time,
    "refused_by": lambda refusals: [_refusal_object(each) for each in refusals],
}
