"""Pages behind requests that scrapy-splash sends in their place.

Such a request goes to Splash and has ``dont_obey_robotstxt``, although its user has not set it: the
page's request was decided about. It is known by ``meta_keys.SENT_TO_SPLASH``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_robotspec.access.account import outcome_of
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.plugin.meta_keys import REPLACES_PAGE, SUMMARY

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord


def page_request(request: Request) -> Request:
    """The request for the page that *request* gets through Splash.

    *request* itself where the page was not decided about (APP-01).
    """
    if SUMMARY not in request.meta:
        return request
    meta = {key: value for key, value in request.meta.items() if key != "dont_obey_robotstxt"}
    return Request(page_url(request), headers=request.headers, meta=meta)


def page_url(request: Request) -> str:
    """The URL of the page that *request* gets through Splash."""
    url: str = request.meta["splash"]["args"]["url"]
    return url


def outcome_of_page(request: Request, record: RobotsRecord | None) -> str:
    """The outcome that counts for the page that *request* gets through Splash.

    *record*: that of the page's origin.
    """
    summary = request.meta.get(SUMMARY)
    is_doubtful = record is not None and record.doubt is not None
    return EXEMPT if summary is None else outcome_of(True, summary["reason"], is_doubtful)


def takes_over_count(request: Request) -> bool:
    """Whether *request* replaces a page's that counts already; true once."""
    if request.meta.get(REPLACES_PAGE):
        return False
    request.meta[REPLACES_PAGE] = True
    return True
