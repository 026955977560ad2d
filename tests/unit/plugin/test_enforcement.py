"""The request whose URL is compared with that of a response."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.plugin.enforcement import final_request, page_request

PAGE = "http://a.example/page"
#: The request that scrapy-splash sends in the place of a page's request.
SPLASH = {"splash": {"args": {"url": PAGE}}, "_splash_processed": True, "dont_obey_robotstxt": True}


def final_url(request: Request, url: str) -> str | None:
    final = final_request(page_request(request), Response(url))
    return None if final is None else final.url


def test_a_request_stands_for_itself() -> None:
    request = Request(PAGE, meta={"dont_obey_robotstxt": True, "robotspec": {}})
    assert page_request(request) is request
    assert final_url(Request(PAGE), f"{PAGE}#part") is None
    assert final_url(Request(PAGE), "http://a.example/other") == "http://a.example/other"


def test_a_request_to_splash_stands_for_its_page() -> None:
    request = Request("http://splash.example/render.json", meta={**SPLASH, "robotspec": {}})
    assert final_url(request, PAGE) is None
    assert final_url(request, "http://a.example/other") == "http://a.example/other"
    assert "dont_obey_robotstxt" not in page_request(request).meta
    assert "dont_obey_robotstxt" in request.meta


def test_a_page_that_was_not_decided_about_is_not_checked_through_splash_either() -> None:
    """APP-01: the user's own request had ``dont_obey_robotstxt``."""
    request = Request("http://splash.example/render.json", meta=SPLASH)
    assert page_request(request) is request
