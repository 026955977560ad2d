"""The page behind a request that scrapy-splash or scrapy-puppeteer-client sends in its place."""

from __future__ import annotations

from dataclasses import replace

from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.plugin.enforcement import page_of
from scrapy_robotspec.plugin.splash import count_of, page_request, page_url
from scrapy_robotspec.store.memory import MemoryStore

PAGE, RENDERER = "http://a.example/page", "http://splash.example/render.json"
#: The request that scrapy-splash sends in the place of a page's request.
SPLASH = {"splash": {"args": {"url": PAGE}}, "_splash_processed": True, "dont_obey_robotstxt": True}


def test_a_request_stands_for_itself() -> None:
    request = Request(PAGE, meta={"dont_obey_robotstxt": True, "robotspec": {}})
    assert page_of(request) is request


def test_a_request_to_splash_stands_for_its_page() -> None:
    request = Request(RENDERER, meta={**SPLASH, "robotspec": {"reason": "no_rule"}})
    assert page_of(request).url == page_request(request).url == page_url(request) == PAGE
    assert count_of(request, MemoryStore())[:2] == ("rules", PAGE)
    assert "dont_obey_robotstxt" not in page_request(request).meta
    assert "dont_obey_robotstxt" in request.meta


def test_a_request_to_puppeteer_stands_for_its_page() -> None:
    """It contains the page's request, whatever of its meta is taken over."""
    page = Request(PAGE, headers={"User-Agent": "a"}, meta={"robotspec": {"reason": "no_rule"}})
    request = Request(RENDERER, meta={"puppeteer_request": page, "dont_obey_robotstxt": True})
    found = page_of(request)
    assert found.url == page_url(request) == PAGE
    assert (found.headers, found.meta) == (page.headers, page.meta)
    assert count_of(request, MemoryStore())[:2] == ("rules", PAGE)
    del page.meta["robotspec"]  # the user's own request had ``dont_obey_robotstxt``
    assert page_of(request) is request
    assert count_of(request, MemoryStore())[:2] == ("dont_obey_robotstxt", PAGE)


def test_a_page_that_was_not_decided_about_is_not_checked_through_splash_either() -> None:
    """APP-01: the user's own request had ``dont_obey_robotstxt``."""
    request = Request(RENDERER, meta=SPLASH)
    assert page_of(request) is page_request(request) is request
    assert page_url(request) == PAGE
    assert count_of(request, MemoryStore())[:2] == ("dont_obey_robotstxt", PAGE)


def test_the_count_of_a_page_is_taken_over_once() -> None:
    """A retry of the request to Splash counts by itself."""
    request = Request(RENDERER, meta={**SPLASH, "robotspec": {"reason": "no_rule"}})
    assert count_of(request, MemoryStore())[2]
    assert not count_of(request, MemoryStore())[2]
    assert not count_of(request.copy(), MemoryStore())[2]


def test_a_page_counts_by_the_doubt_about_its_robots_txt() -> None:
    store, meta = MemoryStore(), {**SPLASH, "robotspec": {"reason": "no_rule"}}
    origin = Origin.of(PAGE)
    assert origin is not None
    held = RobotsRecord(origin, Meaning.RULES, 200, fetched_at=1.0, expires_at=2.0)
    for doubt, outcome in ((None, "rules"), ("HTML page", "unavailable")):
        store.put(replace(held, doubt=doubt))
        assert count_of(Request(RENDERER, meta=meta), store)[0] == outcome
