"""How much of a robots.txt is read, however it is packed (FMT-12)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.support.crawl import WAYS, Result, crawl
from tests.support.responses import endless, http, reply
from tests.support.server import Server, Site

LIMIT = 512_000
HEAD = b"User-agent: *\nDisallow: /first\n"
TAIL = b"\nDisallow: /last\n"
PATHS = ("/first", "/last", "/other")


def filled(size: int) -> bytes:
    """A file of *size* bytes with a rule at its beginning and one at its end."""
    filler = b"#" + b"x" * 98 + b"\n"
    room = size - len(HEAD) - len(TAIL)
    return HEAD + filler * (room // 100) + b"#" * (room % 100) + TAIL


FITS, TOO_LONG = filled(LIMIT), filled(LIMIT + 2)
#: The last line ends exactly at the limit: only its line end is beyond it.
WHOLE_LINES = filled(LIMIT + 1)
GZIP, DEFLATE = [("Content-Encoding", "gzip")], [("Content-Encoding", "deflate")]
TWICE = [("Content-Encoding", "gzip, gzip")]
#: 50 MB of comment after the first rule, in 50 kB.
BOMB = HEAD + b"#" * 50_000_000 + TAIL
CHUNKED_HEAD = http(200, [("Transfer-Encoding", "chunked")], b"1f\r\n" + HEAD + b"\r\n")


def further_bombs() -> dict[str, bytes]:
    """The same in the encodings that only an installed library can undo."""
    bombs = {}
    if find_spec("brotli"):
        bombs["br"] = import_module("brotli").compress(BOMB, quality=1)
    if find_spec("backports") and find_spec("backports.zstd"):
        bombs["zstd"] = import_module("backports.zstd").compress(BOMB)
    return bombs


BOTH, FIRST = ["/other"], ["/last", "/other"]


@pytest.fixture(scope="module", params=WAYS)
def crawled(
    request: pytest.FixtureRequest,
) -> Iterator[tuple[dict[str, tuple[Site, list[str]]], Result]]:
    """All files in one crawl, each with the pages that must be crawled."""
    answers = {
        "fits": (reply(FITS), BOTH),
        "last line end beyond the limit": (reply(WHOLE_LINES), BOTH),
        "two bytes too long": (reply(TOO_LONG), FIRST),
        "much too long": (reply(filled(3_000_000)), FIRST),
        "fits, gzip": (reply(gzip.compress(FITS), headers=GZIP), BOTH),
        "too long, gzip": (reply(gzip.compress(TOO_LONG), headers=GZIP), FIRST),
        "fits, deflate": (reply(zlib.compress(FITS), headers=DEFLATE), BOTH),
        "fits, raw deflate": (reply(zlib.compress(FITS)[2:-4], headers=DEFLATE), BOTH),
        "too long, deflate": (reply(zlib.compress(TOO_LONG), headers=DEFLATE), FIRST),
        "two gzip members": (
            reply(gzip.compress(HEAD) + gzip.compress(TAIL), headers=GZIP),
            BOTH,
        ),
        "text that is called gzip": (reply(filled(1000), headers=GZIP), BOTH),
        "gzip bomb": (reply(gzip.compress(BOMB), headers=GZIP), FIRST),
        "deflate bomb": (reply(zlib.compress(BOMB), headers=DEFLATE), FIRST),
        "bomb in a bomb": (reply(gzip.compress(gzip.compress(BOMB)), headers=TWICE), FIRST),
        **{
            f"{name} bomb": (reply(bomb, headers=[("Content-Encoding", name)]), FIRST)
            for name, bomb in further_bombs().items()
        },
        "endless": (endless(http(200, (), HEAD), b"# more\n" * 2000), FIRST),
        "endless chunks": (endless(CHUNKED_HEAD, b"2710\r\n" + b"#" * 9999 + b"\n\r\n"), FIRST),
        "endless line": (endless(http(200, (), HEAD + b"Disallow: /"), b"other" * 2000), FIRST),
    }
    with Server() as server:
        sites = {
            name: (server.site(f"127.0.1.{n}", answer), expected)
            for n, (name, (answer, expected)) in enumerate(answers.items(), 1)
        }
        urls = [site.url(path) for site, _ in sites.values() for path in PATHS]
        settings = {"ROBOTSPEC_FETCH_TIMEOUT": 20, "ROBOTSPEC_RETRY_TIMES": 0}
        yield sites, crawl(urls, settings, mode=request.param)


def test_what_lies_beyond_the_limit_is_not_read(
    crawled: tuple[dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """FMT-12: packed or not; a line that the limit cuts is dropped; our own cut is no failure."""
    sites, result = crawled
    # A page may be asked for twice: Scrapy retries on a connection that has just been closed.
    found = {name: sorted(set(site.pages_asked)) for name, (site, _) in sites.items()}
    assert found == {name: expected for name, (_, expected) in sites.items()}
    assert result.ended_once(site.url(p) for site, _ in sites.values() for p in PATHS)
    # One more lacks nothing but the end of its last line.
    long = sum(expected is FIRST for _, expected in sites.values()) + 1
    assert result.stats["robotspec/truncated"] == long


def test_not_much_more_than_the_limit_is_downloaded(
    crawled: tuple[dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """The server gets rid of what the buffers in between hold, no more."""
    sites, _ = crawled
    for name in ("endless", "endless chunks", "endless line"):
        (asked,) = sites[name][0].robots_asked
        assert asked.sent < 8_000_000


def test_memory_stays_bounded(
    crawled: tuple[dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """Three bombs of 50 MB are never unpacked."""
    assert crawled[1].memory < 160_000_000


@pytest.mark.parametrize(("limit", "expected"), [(1100, BOTH), (999, BOTH), (998, FIRST)])
def test_max_size_is_a_setting(server: Server, limit: int, expected: list[str]) -> None:
    """ROBOTSPEC_MAX_SIZE, for a file of a thousand bytes."""
    site = server.site("127.0.0.2", filled(1000))
    crawl([site.url(path) for path in PATHS], {"ROBOTSPEC_MAX_SIZE": limit})
    assert sorted(site.pages_asked) == expected
