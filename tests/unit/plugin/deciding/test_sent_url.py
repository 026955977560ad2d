"""The URL that a download handler sends for a request (PAT-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy import Request

from scrapy_robotspec.plugin.deciding.sent_url import (
    find_speller,
    spell_with_yarl,
    spell_without_dots,
)
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.deciding.sent_url import Speller

HANDLERS = "scrapy.core.downloader.handlers"
URL = "http://a.example"


class OwnHandler:
    """A handler of another library; this test sends nothing."""

    lazy = True


@pytest.mark.parametrize(
    ("handler", "speller"),
    [
        (f"{HANDLERS}.http11.HTTP11DownloadHandler", None),
        (OwnHandler, spell_without_dots),
        (f"{__name__}.OwnHandler", spell_without_dots),
        ("no.such.Handler", None),
    ],
)
def test_each_handler_has_its_spelling(handler: object, speller: Speller | None) -> None:
    crawler = crawler_with_engine(DOWNLOAD_HANDLERS={"http": handler, "https": handler})
    assert find_speller(crawler) is speller


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/a", "/a"),
        ("/./a", "/a"),
        ("/a/../b", "/b"),
        ("/../../a", "/a"),
        ("/a/b/..", "/a/"),
        ("/a/.", "/a/"),
        ("/a//../b", "/a/b"),
        ("/%2e%2E/a", "/a"),
        ("/.%2e/a?b=/../c", "/a?b=/../c"),
        ("/.well-known/...", "/.well-known/..."),
        ("/a%2F../b", "/a%2F../b"),
        ("?a=/./b", "/?a=/./b"),
    ],
)
def test_dot_segments_are_removed(path: str, sent: str) -> None:
    assert spell_without_dots(Request(URL + path)) == URL + sent


def test_yarl_also_decodes_characters() -> None:
    pytest.importorskip("yarl", reason="aiohttp is not installed: no handler spells so")
    assert spell_with_yarl(Request(f"{URL}/a/../%40b?c=%3A")) == f"{URL}/@b?c=:"
    verbatim = Request(f"{URL}/a/../%40b", meta={"verbatim_url": True})
    assert spell_with_yarl(verbatim) == verbatim.url
