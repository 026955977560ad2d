"""WARC records: written as received, and read back the same."""

from __future__ import annotations

import gzip
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.evidence.errors import EvidenceError
from scrapy_robotspec.evidence.warc import (
    STATUS_FIELD,
    NewRecord,
    read_member,
    response_head,
    to_member,
)

URL = "https://example.com/robots.txt"


def member(exchange: Exchange, **fields: str) -> bytes:
    head = response_head(exchange, "HTTP/1.1")
    pairs = tuple((name.replace("_", "-"), value) for name, value in fields.items())
    record = NewRecord("<urn:uuid:1>", "response", URL, 1.5, exchange.body, head=head, fields=pairs)
    return to_member(record)


HEADER = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))


@given(
    st.integers(100, 999),
    st.lists(st.tuples(st.sampled_from(["Content-Type", "Location", "X-A"]), HEADER)),
    st.binary(),
)
def test_a_response_is_read_back_as_received(
    status: int, headers: list[tuple[str, str]], body: bytes
) -> None:
    exchange = Exchange(URL, status, tuple(headers), body)
    assert read_member(member(exchange)).exchange() == exchange


@pytest.mark.parametrize(("value", "flag"), [("length", "stopped"), ("disconnect", "lost")])
def test_a_body_that_was_cut_is_marked(value: str, flag: str) -> None:
    found = read_member(member(Exchange(URL, 200), WARC_Truncated=value)).exchange()
    assert getattr(found, flag)


def test_the_header_of_a_removed_transfer_coding_is_renamed() -> None:
    """Else readers would look for chunks in the body."""
    exchange = Exchange(URL, 200, (("Transfer-Encoding", "chunked"),), b"User-agent: *\n")
    block = read_member(member(exchange)).block
    assert block.startswith(
        b"HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\nUser-agent"
    )


def test_other_readers_check_the_digests() -> None:
    data = member(Exchange(URL, 200, (("Content-Type", "text/plain"),), b"Allow: /\n"))
    record = next(iter(ArchiveIterator(BytesIO(data), check_digests="raise")))
    assert record.content_stream().read() == b"Allow: /\n"
    assert record.rec_headers.protocol == "WARC/1.1"
    assert record.rec_headers.get_header("WARC-Date") == "1970-01-01T00:00:01.500000Z"
    assert data.count(b"\x1f\x8b\x08") == 1


def test_a_file_that_came_without_http_has_a_status_of_its_own() -> None:
    record = NewRecord("<urn:uuid:1>", "resource", URL, 1.5, b"x", fields=((STATUS_FIELD, "404"),))
    assert read_member(to_member(record)).exchange() == Exchange(URL, 404, (), b"x")


@pytest.mark.parametrize("data", [b"", b"garbage", gzip.compress(b"garbage", mtime=0), b"\x1f"])
def test_damaged_bytes_raise_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(EvidenceError):
        read_member(data)


def test_only_responses_are_exchanges() -> None:
    record = NewRecord("<urn:uuid:1>", "metadata", URL, 1.5, b"x")
    with pytest.raises(EvidenceError, match="contains no response"):
        read_member(to_member(record)).exchange()
