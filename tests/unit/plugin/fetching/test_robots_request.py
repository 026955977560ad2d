"""The robots.txt request: headers that leave and headers that do not."""

from __future__ import annotations

import gzip

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.http import Response

from scrapy_robotspec.access.codings import can_decode
from scrapy_robotspec.access.exchange import result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.fetching import robots_request as module
from scrapy_robotspec.plugin.fetching.robots_request import (
    exchange_of,
    robots_request,
)
from scrapy_robotspec.plugin.fetching.routes import Route
from scrapy_robotspec.plugin.meta_keys import TRANSFER

FIRST = Origin.of("http://a.example/")


def made() -> Request:
    assert FIRST is not None
    return robots_request(
        FIRST.robots_url,
        FIRST,
        route=Route((), None),
        user_agent=b"examplebot",
        timeout=30.0,
        use_http_cache=False,
    ).request


def test_accept_encoding_is_scrapys_where_all_of_it_can_be_decoded() -> None:
    """With every new Scrapy; only then may its own middleware set the header."""
    header = made().headers.get("Accept-Encoding")
    decodable = [coding for coding in ACCEPTED_ENCODINGS if can_decode(coding)]
    assert header == (None if decodable == ACCEPTED_ENCODINGS else b", ".join(decodable))
    assert {b"gzip", b"deflate"} <= set(decodable)


def test_a_coding_without_a_library_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ACCEPT_ENCODING", b"gzip, deflate")
    assert made().headers.get("Accept-Encoding") == b"gzip, deflate"


def test_a_repeated_request_counts_its_bytes_anew() -> None:
    """scrapy-rotating-proxies sends a copy by another proxy; the copy shares the notes."""
    request = made()
    transfer = request.meta[TRANSFER]
    transfer.received, transfer.stopped, transfer.content_encoding = 600_000, True, [b"gzip"]
    copy = request.copy()
    transfer.send_as(copy)
    assert copy.meta[TRANSFER] is transfer
    assert (transfer.received, transfer.stopped, transfer.content_encoding) == (0, False, ())


@pytest.mark.parametrize("header", ["gzip, chunked", "GZIP,chunked", "gzip"])
def test_transfer_coding_that_a_handler_leaves_is_undone(header: str) -> None:
    """FET-14: compressed bytes read as a file would hold no rule, and allow everything."""
    request, rules = made(), b"User-agent: *\nDisallow: /\n"
    transfer = request.meta[TRANSFER]
    for body, complete in ((gzip.compress(rules), True), (gzip.compress(rules)[:-9], False)):
        response = Response(request.url, body=body, headers={"Transfer-Encoding": header})
        result = result_of(exchange_of(request.url, response, transfer), (), None, 1000)
        assert result.complete is complete
        assert not complete or result.body == rules


def test_chunked_body_is_as_the_handler_gives_it() -> None:
    """Each handler undoes that coding."""
    request = made()
    transfer = request.meta[TRANSFER]
    response = Response(request.url, body=b"\x00", headers={"Transfer-Encoding": "chunked"})
    result = result_of(exchange_of(request.url, response, transfer), (), None, 1000)
    assert (result.body, result.complete) == (b"\x00", True)
