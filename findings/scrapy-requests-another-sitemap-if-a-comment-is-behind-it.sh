#!/usr/bin/env bash
# Scrapy's SitemapSpider requests "/map.xml%20" for "Sitemap: …/map.xml # main", and nothing for "Sitemap : …".
#
# Version: Scrapy 2.19.0 with Protego 0.7.0 (PyPI), its own parser of robots.txt.
# Source: RFC 9309, section 2.2: a line ends with blanks and a comment, or without, and blanks may stand before the
# colon; Scrapy's documentation: sitemap_urls may contain a robots.txt, whose sitemaps are extracted.
# Expected: the sitemaps that Protego finds in the same file.
# Behaviour: the spider has a reader of its own. It takes the rest of the line for the URL, so that the blank before
# the comment is part of the path, and knows the field by "sitemap:" alone. "Sitemap:" without a value is the
# robots.txt itself.
# What follows: the crawl of a site with a comment gets a 404 and no page, and it ends as finished.
# Output:
#   Protego: /plain.xml, /comment.xml, /blank.xml
#   SitemapSpider requests: /plain.xml, /comment.xml%20
source "$(dirname "$0")/common.sh"

pypi scrapy==2.19.0 protego==0.7.0
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
from loopback import serving
from protego import Protego
from scrapy.crawler import CrawlerProcess
from scrapy.spiders import SitemapSpider


def answer(path):
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, robots.encode()
    return 404, {}, b""


with serving(answer) as server:
    robots = (
        f"Sitemap: {server.url}/plain.xml\n"
        f"Sitemap: {server.url}/comment.xml # main\n"
        f"Sitemap : {server.url}/blank.xml\n"
    )

    class Spider(SitemapSpider):
        name = "spider"
        sitemap_urls = (f"{server.url}/robots.txt",)
        custom_settings = {"CONCURRENT_REQUESTS": 1, "TELNETCONSOLE_ENABLED": False}

    found = [url.removeprefix(server.url) for url in Protego.parse(robots).sitemaps]
    print(f"Protego: {', '.join(found)}")
    process = CrawlerProcess()
    process.crawl(Spider)
    process.start()
    requested = sorted((path for path in server.log if path != "/robots.txt"), reverse=True)
    print(f"SitemapSpider requests: {', '.join(requested)}")
PY
