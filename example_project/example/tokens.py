"""The token hook: one function that chooses the product token of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


def choose(request: Request, crawler: Crawler) -> list[str]:
    """Our tokens for this request, the most specific first.

    A spider may name its own in ``robots_tokens``; all others go by the name of the project.
    """
    return getattr(crawler.spider, "robots_tokens", ["robotspec-example"])
