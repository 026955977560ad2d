#!/usr/bin/env bash
# Scrapy resolves the links of a page against the wrong URL if 4,096 characters precede its <base>.
#
# Version: Scrapy 2.19.0 with w3lib 2.5.0, against lxml 6.1.3 (PyPI).
# Source: HTML, section 4.2.3: <base> sets the base URL of the document; it stands in the head, at whatever distance;
# the docstring of w3lib's get_base_url: the base URL that is declared in the HTML text.
# Expected: the URLs that a browser resolves, in a long page as in a short one.
# Behaviour: Scrapy looks for the element in the first 4,096 characters of the text. Styles or data in the head push it
# behind them. Links, response.follow and forms are then relative to the page's own URL.
# What follows: a crawl requests, and judges by the robots.txt of the page's site, URLs that the page does not have.
# The next release of a theme, with a longer style, begins it.
# Output:
#   style of 100 characters: Scrapy requests /docs/v2/intro, lxml resolves /docs/v2/intro
#   style of 5,000 characters: Scrapy requests /search/intro, lxml resolves /docs/v2/intro
source "$(dirname "$0")/common.sh"

pypi scrapy==2.19.0 w3lib==2.5.0 lxml==6.1.3
cd "$work"
"$python" - <<'PY' | confirm
import lxml.html
import scrapy
from loopback import serving
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SIZES = (100, 5000)
found = {}


def page(size):
    style = "a{color:red}".ljust(size)
    head = f'<head><title>Search</title><style>{style}</style><base href="/docs/v2/"></head>'
    return f'<!doctype html><html>{head}<body><a href="intro">Intro</a></body></html>'


def answer(path):
    size = path.removeprefix("/search/")
    return 200, {"Content-Type": "text/html"}, page(int(size) if size.isdigit() else 0).encode()


class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        for size in SIZES:
            yield scrapy.Request(f"{self.site}/search/{size}", cb_kwargs={"size": size})

    def parse(self, response, size):
        (link,) = LinkExtractor().extract_links(response)
        found[size] = link.url.removeprefix(self.site)
        yield scrapy.Request(link.url, callback=lambda _: None)


with serving(answer) as site:
    process = CrawlerProcess({"TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "ERROR"})
    process.crawl(Pages, site=site.url)
    process.start()
for size in SIZES:
    assert found[size] in site.log
    tree = lxml.html.document_fromstring(page(size))
    tree.make_links_absolute(f"{site.url}/search/{size}")
    (link,) = tree.xpath("//a/@href")
    path = link.removeprefix(site.url)
    print(f"style of {size:,} characters: Scrapy requests {found[size]}, lxml resolves {path}")
PY
