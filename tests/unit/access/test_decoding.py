"""Content decoding of any bytes, up to a limit (FMT-12, FET-14)."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.codings import can_decode
from scrapy_robotspec.access.decoding import decode_prefix

TEXT = b"User-agent: *\nDisallow: /no\n" * 20
RAW = zlib.compress(TEXT)[2:-4]
ENCODINGS = [b"gzip", b"x-gzip", b"deflate", b"identity", b"br", b"zstd", b"compress", b"odd"]


def decode(body: bytes, encodings: list[bytes], limit: int) -> tuple[bytes, bool]:
    """The first bytes of a body that was sent under these encodings."""
    return decode_prefix(body, b", ".join(encodings).decode(), limit)


encoded = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=200).map(gzip.compress),
    st.binary(max_size=200).map(zlib.compress),
    st.binary(max_size=50).map(lambda data: gzip.compress(data)[:-3]),
)


@pytest.mark.parametrize(
    ("body", "encodings"),
    [
        (TEXT, []),
        (TEXT, [b"identity"]),
        (gzip.compress(TEXT), [b"GZip ", b" Identity", b""]),
        (gzip.compress(TEXT), [b"gzip"]),
        (gzip.compress(TEXT), [b"x-gzip"]),
        (zlib.compress(TEXT), [b"deflate"]),
        (RAW, [b"deflate"]),
        (gzip.compress(zlib.compress(TEXT)), [b"deflate", b"gzip"]),
        (gzip.compress(TEXT[:40]) + gzip.compress(TEXT[40:]), [b"gzip"]),
        (gzip.compress(TEXT) + b"\0" * 20, [b"gzip"]),
        (TEXT, [b"gzip"]),
        (TEXT, [b"deflate"]),
    ],
    ids=range(12),
)
def test_whole_files(body: bytes, encodings: list[bytes]) -> None:
    """Also text under a wrong header, which many a server sends, and padding behind a member."""
    assert decode(body, encodings, 10_000) == (TEXT, True)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(TEXT)[:-9], b"gzip"),
        (gzip.compress(TEXT)[:14], b"gzip"),
        (gzip.compress(TEXT)[:12] + b"\xff" * 30, b"gzip"),
        (b"\x1f\x8b", b"gzip"),
        (zlib.compress(TEXT)[:-5], b"deflate"),
        (zlib.compress(TEXT)[:8], b"deflate"),
        (b"\xff" * 30, b"deflate"),
    ],
    ids=range(7),
)
def test_broken_files_are_not_whole(body: bytes, encoding: bytes) -> None:
    """FET-14: part of the rules is no rules."""
    _, whole = decode(body, [encoding], 10_000)
    assert not whole


def assert_bounded(bomb: bytes, encodings: list[bytes]) -> None:
    """FMT-12: no more than the limit is ever held, in no layer."""
    tracemalloc.start()
    try:
        decoded, whole = decode(bomb, encodings, 512_001)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (decoded, whole) == (b"#" * 512_001, True)
    assert peak < 4_000_000


@pytest.mark.parametrize("encodings", [[b"gzip"], [b"gzip", b"gzip"], [b"gzip"] * 5])
def test_bomb_is_not_unpacked(encodings: list[bytes]) -> None:
    """FMT-12."""
    body = b"#" * 50_000_000
    for _ in encodings:
        body = gzip.compress(body)
    assert_bounded(body, encodings)


def packers() -> dict[bytes, Callable[[bytes], bytes]]:
    """What the installed libraries can pack: old releases of Scrapy need neither of them."""
    found: dict[bytes, Callable[[bytes], bytes]] = {}
    brotli: Any = import_module("brotli") if find_spec("brotli") else None
    if hasattr(getattr(brotli, "Decompressor", None), "can_accept_more_data"):
        found[b"br"] = brotli.compress
    for name in ("compression.zstd", "backports.zstd"):
        if find_spec(name.partition(".")[0]) and find_spec(name):
            found[b"zstd"] = import_module(name).compress
    return found


@pytest.mark.parametrize("encoding", [b"br", b"zstd"], ids=bytes.decode)
def test_encodings_that_were_not_requested(encoding: bytes) -> None:
    """Read all the same, up to the limit, and only if nothing is lost."""
    pack = packers().get(encoding)
    assert can_decode(encoding) is (pack is not None)
    if pack is None:
        pytest.skip(f"no library for {encoding.decode()} is installed, and this Scrapy needs none")
    for text in (TEXT, b"a", "é".encode() * 500):
        assert decode(pack(text), [encoding], 10_000) == (text, True)
    assert decode(TEXT, [encoding], 10_000) == (TEXT, True)
    packed = pack(TEXT)
    for cut in range(1, len(packed)):
        assert not decode(packed[:cut], [encoding], 10_000)[1] or cut < 3
    assert_bounded(pack(b"#" * 50_000_000), [encoding])


@pytest.mark.parametrize("encoding", [b"compress", b"x-compress", b"dcb", b"dcz", b"odd"])
def test_encodings_that_cannot_be_decoded(encoding: bytes) -> None:
    """FET-14: bytes of another meaning are not read as a file without rules."""
    assert not can_decode(encoding)
    assert decode(b"\x1f\x9d\x90rest", [encoding], 10_000) == (b"", False)
    assert decode(TEXT, [encoding], 10_000) == (TEXT, True)


def test_very_many_streams_are_no_file() -> None:
    """SAF-02: the cost of a few bytes on the wire is bounded, in sequence or nested."""
    for encoding, pack in ({b"gzip": gzip.compress} | packers()).items():
        if encoding != b"br":  # which is one stream
            honest = b"".join(pack(TEXT[at : at + 5]) for at in range(0, len(TEXT), 5))
            assert decode(honest, [encoding], 10_000) == (TEXT, True)
            assert decode(pack(b"") * 20_000, [encoding], 512_001) == (b"", False)
            assert decode(pack(pack(b"") * 20_000), [encoding] * 2, 512_001)[1] is False
    layers = TEXT
    for _ in range(6):
        layers = gzip.compress(layers)
    assert decode(layers, [b"gzip"] * 6, 10_000) == (b"", False)
    assert decode(gzip.decompress(layers), [b"gzip"] * 5, 10_000) == (TEXT, True)


def test_header_that_names_an_encoding_a_thousand_times() -> None:
    """Text is text, whatever is said of it."""
    assert decode(TEXT, [b"gzip", b"deflate"] * 1000, 512_001) == (TEXT, True)


@given(encoded, st.lists(st.sampled_from(ENCODINGS), max_size=4), st.integers(1, 300))
def test_nothing_raises_and_the_limit_holds(
    body: bytes, encodings: list[bytes], limit: int
) -> None:
    """SAF-01: any bytes under any header."""
    decoded, _ = decode(body, encodings, limit)
    assert len(decoded) <= limit


@given(st.binary(max_size=300), st.integers(1, 300), st.integers(0, 9))
def test_prefix_of_what_was_packed(body: bytes, limit: int, level: int) -> None:
    """What comes out is the beginning of what went in, and whole where it is all or the limit."""
    decoded, whole = decode(gzip.compress(body, level), [b"gzip"], limit)
    assert decoded == body[:limit]
    assert whole
