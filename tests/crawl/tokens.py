"""Token hooks that the tests name by their import paths."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler


def by_header(request: Request, crawler: Crawler) -> str:
    """The token that a header of the request names."""
    value = request.headers.get("X-Token")
    return value.decode() if value else "examplebot"


def by_section(request: Request, crawler: Crawler) -> str | list[str]:
    """Two tokens for news."""
    return ["examplebot-news", "examplebot"] if "/news/" in request.url else "examplebot"


def nonsense(request: Request, crawler: Crawler) -> object:
    """No token at all."""
    return 7


def broken(request: Request, crawler: Crawler) -> str:
    """Always raises."""
    raise LookupError("no token today")


def by_user_agent(request: Request, crawler: Crawler) -> str:
    """The name in the User-Agent that the request has at this time."""
    header = request.headers.get("User-Agent")
    return header.decode().partition("/")[0] if header else "examplebot"


async def coroutine(request: Request, crawler: Crawler) -> str:
    """Returns no token at once."""
    return "one"


def broken_for_some(request: Request, crawler: Crawler) -> str:
    """Raises for pages under ``/bad``, returns no legal token under ``/wrong``."""
    if "/bad" in request.url:
        raise LookupError("no token for this one")
    return "" if "/wrong" in request.url else "examplebot"
