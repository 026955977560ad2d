"""Usage preferences of a response: robots.txt and header combined (USE-05)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.usage_policy import UsageRefusal

HEADER = b"Content-Usage"


def usage_of_page(usage: Usage, response: Response) -> Usage:
    """The usage that robots.txt states, combined with the response's header."""
    header = b", ".join(response.headers.getlist(HEADER))
    return usage | Usage.from_header(header) if header else usage


def refused_by_usage(summary: Mapping[str, Any], origin: Origin, refusal: UsageRefusal) -> Decision:
    """The decision that refuses a downloaded page."""
    return Decision(
        allowed=False,
        reason="usage",
        outcome=summary["outcome"],
        status=summary["status"],
        age=summary["age"],
        origin=origin,
        usage=refusal,
    )
