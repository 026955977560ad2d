"""Bodies that do not end (FET-08, FET-14)."""

from __future__ import annotations

import pytest

from tests.support.crawl import WAYS, crawl
from tests.support.responses import Answer, endless, http
from tests.support.server import Server

SETTINGS = {
    "ROBOTSPEC_FETCH_TIMEOUT": 3,
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
}


def stalled(status: int, chunk: bytes = b"", location: str = "") -> Answer:
    """A response whose body stays short of its length; *chunk* comes 20 times a second."""
    headers = [("Content-Length", "999999")] + [("Location", location)] * bool(location)
    return endless(http(status, headers, b"User-agent: *\nDisallow: /\n"), chunk, 0.05)


@pytest.mark.parametrize("mode", WAYS)
def test_a_body_that_does_not_end_is_a_timeout(server: Server, mode: str) -> None:
    """FET-08, FET-14: silent or slow, whatever the status; the site gets no second request."""
    sites = [
        server.site("127.0.0.2", stalled(200, chunk=b"#")),
        server.site("127.0.0.3", stalled(404)),
        server.site("127.0.0.4", stalled(403, chunk=b"#")),
        server.site("127.0.0.5", stalled(503)),
    ]
    result = crawl([each.url("/yes") for each in sites], SETTINGS, mode=mode)
    assert [site.pages_asked for site in sites] == [[], [], [], []]
    assert [len(site.robots_asked) for site in sites] == [1, 1, 1, 1]
    texts = {result.errors[site.url("/yes")]["text"] for site in sites}
    # the time limit of the whole fetch or that of its download, whichever is noticed first
    assert {text.partition(" (")[2].split()[:2] == ["no", "answer"] for text in texts} == {True}
    assert result.exit_code == 0
    assert "Traceback" not in result.log


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("chunk", [b"", b"#"])
def test_a_redirect_is_followed_though_its_body_does_not_end(
    server: Server, mode: str, chunk: bytes
) -> None:
    """FET-03: also a chain of two; 4xx and 2xx with a Location stay timeouts of the site."""
    end = server.site("127.0.0.9", "User-agent: *\nDisallow: /no")
    target = end.url("/robots.txt")
    first = server.site("127.0.0.2", stalled(302, chunk, target))
    others = [
        server.site("127.0.0.3", stalled(200, chunk, target)),
        server.site("127.0.0.4", stalled(403, chunk, target)),
    ]
    urls = [site.url(path) for site in (first, *others) for path in ("/yes", "/no")]
    result = crawl(urls, {**SETTINGS, "ROBOTSPEC_FETCH_TIMEOUT": 6}, mode=mode)
    assert first.pages_asked == ["/yes"]
    for other in others:
        assert other.pages_asked == []
        assert "the body of the response did not end" in result.errors[other.url("/yes")]["text"]
    assert result.stats["robotstxt/exception_count/timeout"] == len(others)
    assert len(first.robots_asked) == 2
    assert len(end.robots_asked) == 1
    assert "Forbidden by robots.txt" in result.errors[first.url("/no")]["text"]
    assert "Traceback" not in result.log
