"""Final URLs: responses whose handler followed redirects itself."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


def final_request(request: Request, response: Response) -> Request | None:
    """*request* redirected to the response's URL; None if equal."""
    if urldefrag(response.url).url == urldefrag(request.url).url:
        return None
    return redirected(request, response.url)


def redirected(request: Request, url: str) -> Request:
    """*request* redirected to *url*, with its product tokens."""
    times = request.meta.get("redirect_times") or 0
    return request.replace(url=url, meta={**request.meta, "redirect_times": times + 1})
