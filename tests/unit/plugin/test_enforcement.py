"""The request whose URL is compared with that of a response."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.plugin.enforcement import final_request

PAGE = "http://a.example/page"


def final_url(request: Request, url: str) -> str | None:
    final = final_request(request, Response(url))
    return None if final is None else final.url


def test_the_part_of_a_page_is_the_page() -> None:
    assert final_url(Request(PAGE), f"{PAGE}#part") is None
    assert final_url(Request(PAGE), "http://a.example/other") == "http://a.example/other"
