"""Answers that are none: FET-14 and FET-16. All of them mean unreachable, never allow."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator

import pytest

from tests.support import responses
from tests.support.crawl import WAYS, Result, crawl
from tests.support.responses import drip, http, raw, reply
from tests.support.server import Server, Site

BODY = b"User-agent: *\nDisallow: /no\n"
WHOLE = http(200, [("Content-Length", str(len(BODY))), ("Content-Type", "text/plain")], BODY)
GZIP = [("Content-Encoding", "gzip")]
CHUNKED = http(200, [("Transfer-Encoding", "chunked")], b"")

#: Faults of a server that does not answer.
BROKEN = {
    "silence": responses.silence(),
    "close at once": raw(b""),
    "reset at once": responses.reset(),
    "reset in the head": responses.reset(WHOLE[:30]),
    "reset in the body": responses.reset(WHOLE[:-5]),
    "short body": raw(http(200, [("Content-Length", "999")], BODY)),
    "chunks without end": raw(CHUNKED + b"1c\r\n" + BODY + b"\r\n"),
    "chunk shorter than it says": raw(CHUNKED + b"ff\r\n" + BODY),
    "chunk size is no number": raw(CHUNKED + b"zz\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "garbage": raw(b"\x00\xff\x17" * 50),
    "another protocol": raw(b"220 ftp.example.com ready\r\n"),
    "HTTP/0.9": raw(BODY),
    "head without end": responses.endless(b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n", 0.01),
    "head byte by byte": responses.drip(WHOLE, 0.2),
    "body byte by byte": responses.drip(WHOLE[-len(BODY) :], 0.2),
    "status line without status": raw(b"HTTP/1.1\r\n\r\n" + BODY),
    "status in words": raw(WHOLE.replace(b"200", b"two")),
    "length in words": raw(http(200, [("Content-Length", "many")], BODY)),
    "two lengths": raw(http(200, [("Content-Length", "3"), ("Content-Length", "4")], BODY)),
    "gzip cut short": reply(gzip.compress(BODY)[:-9], headers=GZIP),
    "packed in a way that we cannot undo": reply(
        b"\x1f\x9d\x90" + bytes(range(256)), headers=[("Content-Encoding", "compress")]
    ),
    "gzip that breaks": reply(gzip.compress(BODY)[:12] + b"\xff" * 40, headers=GZIP),
}

SETTINGS = {
    "ROBOTSPEC_FETCH_TIMEOUT": 1.5,
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
    "CONCURRENT_REQUESTS": 100,
}


@pytest.fixture(scope="module", params=WAYS)
def crawled(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Site], Result]]:
    """One origin for each way to fail, all in one crawl."""
    with Server() as server:
        sites = {
            name: server.site(f"127.0.1.{n}", answer)
            for n, (name, answer) in enumerate(BROKEN.items(), 1)
        }
        urls = [site.url(path) for site in sites.values() for path in ("/yes", "/no")]
        yield sites, crawl(urls, SETTINGS, mode=request.param)


def test_each_is_unreachable(crawled: tuple[dict[str, Site], Result]) -> None:
    """FET-14, FET-16: no page is requested, each request gets the reason."""
    sites, result = crawled
    assert {name: site.pages_asked for name, site in sites.items() if site.pages_asked} == {}
    for name, site in sites.items():
        for path in ("/yes", "/no"):
            error = result.errors[site.url(path)]
            found = error["type"], error["text"][:22], error["reason"]
            assert found == ("RobotsUnreachable", "robots.txt unreachable", "unreachable"), name


def test_every_request_ended_once_and_quietly(crawled: tuple[dict[str, Site], Result]) -> None:
    """No traceback for a host that is merely down."""
    sites, result = crawled
    assert result.ended_once(site.url(p) for site in sites.values() for p in ("/yes", "/no"))
    assert result.exit_code == 0
    assert "Traceback" not in result.log


def test_no_line_shows_an_object(crawled: tuple[dict[str, Site], Result]) -> None:
    """Neither Twisted's nor Python's: the reason is in words, where the request's error has it."""
    sites, result = crawled
    words = {name: result.errors[site.url("/no")]["text"][24:-1] for name, site in sites.items()}
    found = [text for text in words.values() if any(mark in text for mark in ("<", "'", "Error"))]
    assert found == []
    for name in ("status in words", "length in words", "two lengths"):
        assert words[name] == "invalid HTTP response"
    assert not result.lines("scrapy_robotspec", "Failure")


@pytest.mark.parametrize("mode", WAYS)
def test_connection_closed_at_every_octet(server: Server, mode: str) -> None:
    """FET-14: whatever part of the answer came, only the whole of it holds rules."""
    cuts = [*range(0, len(WHOLE) - 4, 3), *range(len(WHOLE) - 4, len(WHOLE))]
    sites = [server.site(f"127.0.1.{n}", raw(WHOLE[:cut])) for n, cut in enumerate(cuts, 1)]
    whole = server.site("127.0.2.1", raw(WHOLE))
    urls = [site.url(path) for site in (*sites, whole) for path in ("/yes", "/no")]
    result = crawl(urls, {**SETTINGS, "ROBOTSPEC_FETCH_TIMEOUT": 30}, mode=mode)
    assert {site.host: site.pages_asked for site in sites if site.pages_asked} == {}
    assert whole.pages_asked == ["/yes"]
    assert result.ended_once(urls)


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("signal", ["headers_received", "bytes_received"])
def test_downloads_that_a_user_stops(server: Server, mode: str, signal: str) -> None:
    """FET-14: what came before another handler of a signal stopped it holds rules only if whole.

    The site has sent no error, so its pages wait for no end of one.
    """
    empty = server.site("127.0.1.1", reply())
    short = server.site("127.0.1.2", reply(BODY))
    head = WHOLE.replace(b": 28", b": 128").replace(BODY, b"#" * 99 + b"\n")
    cut = server.site("127.0.1.3", drip(head + BODY, 0.2, len(head)))
    chunked = server.site("127.0.1.4", drip(CHUNKED + b"1c\r\n" + BODY, 0.2, len(CHUNKED) + 20))
    sites = [empty, short, cut, chunked]
    settings = {
        "EXTENSIONS": {"tests.crawl.middlewares.StopsDownloads": 1},
        "STOPS_AT": signal,
        "ROBOTSPEC_HOLD_TIMEOUT": 300,
        "ROBOTSPEC_RETRY_TIMES": 0,
    }
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    result = crawl(urls, {**SETTINGS, **settings}, mode=mode)
    assert result.ended_once(urls)
    whole = ["/yes"] if signal == "bytes_received" else []
    assert [sorted(site.pages_asked) for site in sites] == [["/no", "/yes"], whole, [], []]
    given_up = result.lines("given up", "a signal handler of this crawl has stopped the download")
    assert len(given_up) == (2 if whole else 3)


@pytest.mark.parametrize("mode", WAYS)
def test_a_server_that_is_down(server: Server, mode: str) -> None:
    """FET-14: connection refused, no such name."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        refused = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        urls = [refused, "http://nobody.invalid/"]
        result = crawl(urls, SETTINGS, mode=mode)
    assert result.ended_once(urls)
    assert result.errors[refused]["type"] == "RobotsUnreachable"
    assert result.errors[urls[1]]["type"] == "RobotsUnreachable"
    assert "Traceback" not in result.log


def test_a_dead_host_is_asked_as_often_as_the_setting_says(server: Server) -> None:
    """ROBOTSPEC_RETRY_TIMES: further attempts where there is no HTTP answer at all."""
    asked = {}
    for times in (0, 2):
        site = server.site(f"127.0.0.{times + 2}", responses.reset())
        settings = {"ROBOTSPEC_RETRY_TIMES": times, "ROBOTSPEC_RETRY_DELAY": 0.1}
        result = crawl([site.url(f"/{n}") for n in range(5)], settings, mode="select")
        assert len(result.errors) == 5
        asked[times] = len(site.robots_asked)
    assert asked == {0: 1, 2: 3}


@pytest.mark.parametrize("mode", WAYS)
def test_a_host_that_no_url_can_have_is_asked_once(mode: str) -> None:
    """FET-14: handlers fail in ways of their own, and none can find such a host later."""
    urls = [f"http://{host}/" for host in ("a..example", f"{'a' * 64}.example", "a%20b.example")]
    result = crawl(urls, {"ROBOTSPEC_RETRY_DELAY": 0.01}, mode=mode)
    for url in urls:
        assert result.errors[url]["text"] == "robots.txt unreachable (impossible host name)"
    assert result.stats["robotstxt/request_count"] == len(urls)
    assert result.log.count("given up after 1 attempt (impossible host name)") == len(urls)
