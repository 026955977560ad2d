"""Pages behind requests that plugins send in their place.

A request of scrapy-splash or scrapy-puppeteer-client goes to a service. It has
``dont_obey_robotstxt``, although its user has not set it: the page's request was decided about.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_robotspec.access.account import outcome_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin.meta_keys import REPLACES_PAGE, SENT_TO_PUPPETEER, SUMMARY

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.deciding.request_policy import Answer
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.store.base import CrawlStore


def page_request(request: Request) -> Request:
    """The request for the page that *request* gets through a service.

    *request* itself where the page was not decided about (APP-01).
    """
    page = request.meta.get(SENT_TO_PUPPETEER, request)
    if SUMMARY not in page.meta:
        return request
    meta = {key: value for key, value in page.meta.items() if key != "dont_obey_robotstxt"}
    return Request(page_url(request), headers=page.headers, meta=meta)


def decide_about_page(robots: CrawlRobots, request: Request) -> tuple[Request, Answer] | None:
    """Decide once more about the page behind *request*, which leaves.

    Returns the page's request and the answer; None where there is none now.
    """
    page = page_request(request)
    origin = robots.policy.origin(page)
    answer = None if origin is None else robots.decide_now(origin, page, time.time())
    if answer is None or isinstance(answer, Pending):
        return None
    if not answer.decision.allowed:  # else the decision about the page stands
        robots.note_decision(page, answer, "request")
    return page, answer


def page_url(request: Request) -> str:
    """The URL of the page that *request* gets through a service."""
    page, meta = request.meta.get(SENT_TO_PUPPETEER), request.meta
    url: str = meta["splash"]["args"]["url"] if page is None else page.url
    return url


def count_of(request: Request, store: CrawlStore) -> tuple[str, str, bool]:
    """Outcome and URL of a page, and whether it counts already.

    *request* asks a service for it. A retry of the request counts by itself.
    """
    url, summary = page_url(request), page_request(request).meta.get(SUMMARY)
    origin, outcome = Origin.of(url), EXEMPT
    if summary is not None:
        record = None if origin is None else store.get(origin)
        outcome = outcome_of(True, summary["reason"], record and record.doubt)
    is_counted = REPLACES_PAGE not in request.meta
    request.meta[REPLACES_PAGE] = True
    return outcome, url, is_counted
