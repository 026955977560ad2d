"""CrawlRobots: decisions that are asked for outside ``process_request``, and their waits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import crawl
from tests.support.responses import after, reply, until
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
QUICK_RETRIES = {"ROBOTSPEC_RETRY_DELAY": 0.2, "ROBOTSPEC_RETRY_MAX_DELAY": 0.4}


def test_a_spider_may_ask_beforehand(server: Server) -> None:
    """``decision``, ``sitemaps``, ``crawl_delay`` and ``usage`` (USE-01, USE-03)."""
    body = RULES + "Crawl-delay: 3\nContent-Usage: train-ai=n\nContent-Usage: /open train-ai=y\n"
    sitemap = "https://example.com/map.xml"
    robots = until(0.5, reply("", 503), reply(f"{body}Sitemap: {sitemap}\n"))
    site, gone = server.site("127.0.0.2", robots), server.site("127.0.0.3", reply("", 404))
    urls = [site.url("/open"), site.url("/no"), gone.url("/"), "data:,x"]
    result = crawl(urls, QUICK_RETRIES, spider="asking")
    members = ("allowed", "reason", "sitemaps", "crawl_delay", "applies", "preferences")
    assert [tuple(asked[name] for name in members) for asked in result.of("asked")] == [
        (True, "no_rule", [sitemap], 3.0, True, {"train-ai": "allow"}),
        (False, "rule", [sitemap], 3.0, False, {}),
        (True, "unavailable", [], None, True, {}),
        (True, "no_rule", [], None, True, {}),
    ]
    assert site.pages_asked == gone.pages_asked == []


@pytest.mark.parametrize("by", ["question", "final URL"])
def test_a_wait_outside_the_scheduler_is_named_and_so_is_its_end(server: Server, by: str) -> None:
    """A question of the spider; the URL that a download handler was redirected to."""
    silent = server.site("127.0.0.2", after(0.7, reply(RULES)))
    url, spider, settings = silent.url("/"), "asking", dict[str, Any](ROBOTSPEC_PROGRESS_AFTER=0.2)
    if by == "final URL":
        pages = {"/": reply("a page", headers=[("X-Final", url)])}
        url, spider = server.site("127.0.0.3", pages=pages).url("/"), "plain"
        settings |= {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900}}
    result = crawl([url], {**settings, "LOGSTATS_INTERVAL": 0.4}, spider=spider)
    assert len(result.lines("robots.txt of http://127.0.0.2", "not answered", "1 request")) == 1
    assert result.lines("robots.txt: 1 origin pending, 1 request waiting", "(127.0.0.2)")
    released = "" if by == "question" else ", 1 request released"
    (line,) = result.lines("127.0.0.2", "has answered: with rules")
    assert line.endswith(f"with rules{released}")
    assert (result.stats["robotspec/pending"], result.stats["robotspec/waiting"]) == (0, 0)
