"""Final URLs: responses whose handler followed redirects itself."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from scrapy import Request

if TYPE_CHECKING:
    from scrapy.http import Response


def page_request(request: Request) -> Request:
    """The page's request, where scrapy-splash has replaced it by *request*.

    That one goes to Splash and has ``dont_obey_robotstxt``, although its user has not set it: the
    page's request was decided about.
    """
    meta = request.meta
    if "_splash_processed" not in meta or "robotspec" not in meta:
        return request
    obeying = {key: value for key, value in meta.items() if key != "dont_obey_robotstxt"}
    return Request(meta["splash"]["args"]["url"], headers=request.headers, meta=obeying)


def final_request(request: Request, response: Response) -> Request | None:
    """*request* redirected to the response's URL; None if equal."""
    if urldefrag(response.url).url == urldefrag(request.url).url:
        return None
    return redirected(request, response.url)


def redirected(request: Request, url: str) -> Request:
    """*request* redirected to *url*, with its product tokens."""
    times = request.meta.get("redirect_times") or 0
    return request.replace(url=url, meta={**request.meta, "redirect_times": times + 1})
