"""The URL that a download handler sends for a request (PAT-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy import Request

from scrapy_robotspec.plugin.deciding.sent_url import (
    find_rewriter,
    remove_dot_segments,
    rewrite_as_yarl,
)
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.deciding.sent_url import Rewriter

HANDLERS = "scrapy.core.downloader.handlers"
URL = "http://a.example"


class OwnHandler:
    """A handler of another library; this test sends nothing."""

    lazy = True


@pytest.mark.parametrize(
    ("handler", "rewriter"),
    [
        (f"{HANDLERS}.http11.HTTP11DownloadHandler", None),
        (OwnHandler, remove_dot_segments),
        (f"{__name__}.OwnHandler", remove_dot_segments),
        ("no.such.Handler", None),
    ],
)
def test_each_handler_has_its_rewriter(handler: object, rewriter: Rewriter | None) -> None:
    crawler = crawler_with_engine(DOWNLOAD_HANDLERS={"http": handler, "https": handler})
    assert find_rewriter(crawler) is rewriter


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
    assert remove_dot_segments(Request(URL + path)) == URL + sent


def test_yarl_also_decodes_characters() -> None:
    pytest.importorskip("yarl", reason="aiohttp is not installed: no handler spells so")
    assert rewrite_as_yarl(Request(f"{URL}/a/../%40b?c=%3A")) == f"{URL}/@b?c=:"
    verbatim = Request(f"{URL}/a/../%40b", meta={"verbatim_url": True})
    assert rewrite_as_yarl(verbatim) == verbatim.url
