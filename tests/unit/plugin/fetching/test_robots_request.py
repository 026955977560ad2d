"""The robots.txt request: headers that leave and headers that do not."""

from __future__ import annotations

import gzip
import resource
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.codings import can_decode
from scrapy_robotspec.access.exchange import result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching import robots_request as module
from scrapy_robotspec.plugin.fetching.robots_request import (
    exchange_of,
    robots_request,
)
from scrapy_robotspec.plugin.fetching.routes import Route
from scrapy_robotspec.plugin.meta_keys import TRANSFER
from tests.unit.plugin.fetching.downloading import (
    PAGE,
    RULES,
    Downloading,
    by_url,
    respond,
    run,
)

FIRST = Origin.of("http://a.example/")


def made(url: str = "", **options: Any) -> Request:
    assert FIRST is not None
    usual = {
        "route": Route((), None),
        "user_agent": b"examplebot",
        "timeout": 30.0,
        "use_http_cache": False,
        "past_caches": False,
    }
    return robots_request(url or FIRST.robots_url, FIRST, **{**usual, **options}).request


@pytest.mark.parametrize(
    ("options", "header", "value"),
    [
        ({}, "User-Agent", b"examplebot"),
        ({"user_agent": None}, "User-Agent", None),
        ({}, "Cache-Control", None),
        ({"past_caches": True}, "Cache-Control", b"no-cache"),
        ({}, "Proxy-Authorization", None),
        ({"route": Route((), b"Basic eDp5")}, "Proxy-Authorization", b"Basic eDp5"),
    ],
)
def test_headers_of_a_robots_txt_request(
    options: dict[str, Any], header: str, value: bytes | None
) -> None:
    """FET-01, FET-07: another's name for the crawler is not made up."""
    request = made(**options)
    assert request.headers.get(header) == value
    assert (header in request.headers) is (value is not None)


@pytest.mark.parametrize("use_http_cache", [True, False])
def test_the_http_cache_answers_only_where_it_is_the_only_source(use_http_cache: bool) -> None:
    """CAC-01: its copy has no lifetime."""
    assert made(use_http_cache=use_http_cache).meta.get("dont_cache", False) is not use_http_cache


@pytest.mark.parametrize(
    ("url", "left"),
    [("", {b"Authorization", b"Cookie"}), ("http://b.example/robots.txt", set())],
    ids=["the origin", "another"],
)
def test_a_robots_txt_request_leaves_without_headers_of_other_middlewares(
    url: str, left: set[bytes]
) -> None:
    """FET-01, FET-18."""
    request = made(url, user_agent=None)
    own = set(request.headers)
    for name in ("If-None-Match", "Range", "Authorization", "Cookie"):
        request.headers[name] = "x"
    request.meta["playwright"] = True
    request.meta[TRANSFER].send_as(request)
    assert set(request.headers) - own == left
    assert "playwright" not in request.meta


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
    body = transfer.body = Deferred[None]()
    copy = request.copy()
    transfer.send_as(copy)
    assert body.called, "the time of the first body ends no other one"
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


@pytest.mark.parametrize(
    ("status", "length", "stopped", "flags", "usable"),
    [
        (200, None, False, [], True),
        (200, None, False, ["download_stopped"], False),
        (200, 28, False, ["download_stopped"], True),
        (200, 29, False, ["download_stopped"], False),
        (299, None, False, ["download_stopped"], False),
        (200, None, True, ["download_stopped"], True),
        (404, None, False, ["download_stopped"], True),
        (300, None, False, ["download_stopped"], True),
        (503, None, False, ["download_stopped"], True),
    ],
)
def test_a_file_that_a_signal_handler_of_the_user_cuts_off_is_not_used(
    status: int, length: int | None, stopped: bool, flags: list[str], usable: bool
) -> None:
    """FET-14: half of the rules allows more. A file cut at the parsing limit is whole (FMT-12)."""
    assert len(RULES) == 28
    request = made()
    transfer = request.meta[TRANSFER]
    transfer.stopped = stopped
    headers = {} if length is None else {"Content-Length": str(length)}
    response = Response(request.url, status=status, body=RULES, headers=headers, flags=flags)
    if usable:
        exchange = exchange_of(request.url, response, transfer)
        assert (exchange.status, exchange.body, exchange.stopped) == (status, RULES, stopped)
        assert exchange.incomplete is (status >= 300)  # the archive says so
    else:
        with pytest.raises(IgnoreRequest, match="signal handler"):
            exchange_of(request.url, response, transfer)


# --- downloads


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Downloading:
    return Downloading(monkeypatch, ROBOTSPEC_MAX_SIZE=2000)


@pytest.mark.parametrize(
    ("size", "received", "truncated"), [(2000, 2000, False), (2001, 2001, True), (9000, 3000, True)]
)
def test_a_download_ends_behind_the_limit(
    crawl: Downloading, size: int, received: int, truncated: bool
) -> None:
    """FMT-12: one byte more shows that the file is longer."""
    crawl.site = respond(body=b"#" * size)
    result = crawl.fetched()
    assert (result.status, result.truncated, result.complete) == (200, truncated, True)
    assert crawl.sent[0].meta[TRANSFER].received == received


def test_pages_are_downloaded_as_ever_while_a_robots_txt_is(crawl: Downloading) -> None:
    body = gzip.compress(RULES) + bytes(9000)
    crawl.site = by_url({PAGE: respond(body=body, Content_Encoding="gzip")})

    async def download_page() -> Response:
        with crawl.runtime.downloads.watched():
            response: Response = await crawl.engine.download_async(Request(PAGE))
            return response

    response = run(download_page)
    assert response.body == body
    assert response.headers["Content-Encoding"] == b"gzip"


def test_a_body_stays_encoded_until_it_is_decoded_up_to_the_limit(crawl: Downloading) -> None:
    """SAF-01: Scrapy's middleware would unpack all of it."""
    crawl.site = respond(body=gzip.compress(RULES + b"#" * 9000), Content_Encoding="gzip")
    result = crawl.fetched()
    assert result.body.startswith(RULES)
    assert (len(result.body), result.truncated) == (2001, True)


def test_downloads_are_watched_until_the_last_fetch_ends(crawl: Downloading) -> None:
    """FMT-12 holds for each of several; pages cost nothing afterwards."""
    downloads = crawl.runtime.downloads
    with downloads.watched():
        with downloads.watched():
            pass
        crawl.site = respond(body=b"#" * 9000)
        transfer = made().meta[TRANSFER]
        run(lambda: downloads.send(transfer))
        assert transfer.stopped
    assert not _compat.has_receivers(crawl.crawler, signals.bytes_received)


def test_a_robots_txt_has_a_download_slot_of_its_own_while_it_is_fetched(
    crawl: Downloading,
) -> None:
    """No page of the same host or proxy delays it, and it delays none."""
    slots, total = crawl.engine.downloader.per_slot_settings, []

    def site(request: Request) -> Response:
        slot = crawl.engine.downloader.get_slot_key(request)
        assert slots[slot] == {"delay": 0.0, "concurrency": 8}
        assert crawl.engine.downloader.get_slot_key(Request(PAGE)) == "a.example"
        total.append(crawl.engine.downloader.total_concurrency)
        return respond()(request)

    crawl.site = site
    before = crawl.engine.downloader.total_concurrency
    crawl.fetched()
    assert total == [before + 1]
    assert crawl.engine.downloader.total_concurrency == before
    assert slots == {}


@pytest.mark.parametrize("is_sending", [True, False])
def test_a_request_that_is_given_up_is_not_sent_later(crawl: Downloading, is_sending: bool) -> None:
    """A handler has it already, or another middleware, which ends with the download."""
    crawl.site, crawl.is_sending = by_url({}), is_sending
    assert "no answer" in str(crawl.fetched(silent=31.0).error)
    assert crawl.cancelled == crawl.sent * is_sending


# --- idle connections


class Pool:
    """A pool of idle connections, as Twisted's."""

    def __init__(self, number: int) -> None:
        self._timeouts = dict.fromkeys(range(number))

    def closeCachedConnections(self) -> None:  # noqa: N802
        self._timeouts.clear()


class Session:
    """A session of a handler without Twisted, and its one idle connection."""

    def __init__(self) -> None:
        self.connector = self
        self._conns = {"a.example": [(self, 0.0)]}

    def close(self) -> None:
        """The connection closes."""


class Handler:
    """A download handler."""

    def __init__(self, number: int) -> None:
        self._pool = Pool(number)
        self._session = Session()


@pytest.mark.parametrize(
    ("idle", "files", "failed", "left", "sessions_left"),
    [
        (50, 100, None, 50, 1),
        (51, 100, None, 0, 1),
        (51, resource.RLIM_INFINITY, None, 51, 1),
        (1, 100, 421, 0, 0),
        (1, 100, 503, 1, 1),
    ],
    ids=["few", "too many files", "no limit", "misdirected", "another failure"],
)
def test_idle_connections_are_closed_where_they_are_too_many_or_wrong(
    crawl: Downloading,
    monkeypatch: pytest.MonkeyPatch,
    idle: int,
    files: int,
    failed: int | None,
    left: int,
    sessions_left: int,
) -> None:
    """Pages leave files to a robots.txt; after a 421 it goes over a new connection (FET-19)."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    handler = Handler(idle)
    monkeypatch.setattr(crawl.engine.downloader.handlers, "_handlers", {"http": handler})
    crawl.fetched(failed=failed)
    assert len(handler._pool._timeouts) == left
    assert len(handler._session._conns["a.example"]) == sessions_left
