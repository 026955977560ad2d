"""Pages behind requests that scrapy-splash sends in their place.

Such a request goes to Splash and has ``dont_obey_robotstxt``, although its user has not set it: the
page's request was decided about.
"""

from __future__ import annotations

from scrapy import Request

from scrapy_robotspec.plugin.meta_keys import REPLACES_PAGE, SUMMARY

#: Meta key of scrapy-splash.
_PROCESSED = "_splash_processed"


def is_sent_to_splash(request: Request) -> bool:
    """Whether *request* asks Splash for a page."""
    return _PROCESSED in request.meta


def page_request(request: Request) -> Request:
    """The page's request, where scrapy-splash has replaced it by *request*."""
    meta = request.meta
    if _PROCESSED not in meta or SUMMARY not in meta:
        return request
    obeying = {key: value for key, value in meta.items() if key != "dont_obey_robotstxt"}
    return Request(page_url(request), headers=request.headers, meta=obeying)


def page_url(request: Request) -> str:
    """The URL of the page that *request* gets, through scrapy-splash or itself."""
    meta = request.meta
    url: str = meta["splash"]["args"]["url"] if _PROCESSED in meta else request.url
    return url


def takes_over_count(request: Request) -> bool:
    """Whether *request* replaces a page's that counts already; true once."""
    meta = request.meta
    if _PROCESSED not in meta or meta.get(REPLACES_PAGE):
        return False
    meta[REPLACES_PAGE] = True
    return True
