"""Responses as received: headers, completeness, the size limit."""

from __future__ import annotations

import gzip

import pytest

from scrapy_robotspec.access.exchange import Exchange, result_of

URL = "http://example.com/robots.txt"
BODY = b"User-agent: *\nDisallow: /\n"


def partial(content_range: str, content_type: str = "text/plain") -> Exchange:
    headers = (("Content-Range", content_range), ("Content-Type", content_type))
    return Exchange(URL, 206, headers, BODY)


@pytest.mark.parametrize(
    ("response", "complete"),
    [
        (partial("bytes 0-25/26"), True),
        (partial("BYTES 0-25/*"), True),
        (partial("bytes 0-25/27"), False),
        (partial("bytes 1-25/26"), False),
        (partial("bytes 1-25/*"), False),
        (partial("pages 1-2/9"), True),
        (partial("bytes 0-25/26", "multipart/byteranges; boundary=x"), False),
        (Exchange(URL, 200, (("Content-Range", "bytes 1-25/26"),), BODY), True),
        (Exchange(URL, 200, (), BODY, incomplete=True), False),
        (Exchange(URL, 200, (), BODY, stopped=True, incomplete=True), True),
    ],
)
def test_a_206_that_leaves_bytes_out_is_incomplete(response: Exchange, complete: bool) -> None:
    """FET-02, FET-14: our own cut loses nothing (FMT-12)."""
    assert result_of(response, (), None, 100).complete is complete


@pytest.mark.parametrize(("size", "truncated"), [(26, False), (25, True)])
def test_a_file_longer_than_the_limit_is_known_to_be(size: int, truncated: bool) -> None:
    """FMT-12: also one that was compressed."""
    packed = Exchange(URL, 200, (("Content-Encoding", "gzip"),), gzip.compress(BODY))
    for response in (packed, Exchange(URL, 200, (), BODY)):
        result = result_of(response, (), None, size)
        assert (result.truncated, result.complete) == (truncated, True)
        assert result.body == BODY[: size + 1]
