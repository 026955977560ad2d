#!/usr/bin/env bash
# scrapy-extensions waits eight seconds before a retry; all other sites wait with it.
#
# Version: scrapy-extensions 1.2.0 with Scrapy 2.19.0 (PyPI).
# Source: DelayedRetryMiddleware says of itself that it retries certain requests with a delay, and that the wait
# is non-blocking.
# Expected: the requests of the site that is busy wait; a site that answers goes on.
# Behaviour: a request counts towards CONCURRENT_REQUESTS until its middlewares are done with it, and the wait is within
# one of them. The site's own limit counts it no longer, so that site sends more: sixteen of its pages, Scrapy's default,
# stop the crawl, and with backoff the pauses grow.
# What follows: one site that says 503 sets the pace of a broad crawl.
# Output:
#   Scrapy's retry: 20 of 20 pages of the other site within 5 s
#   a delayed retry, 10 pages of the busy site: 20 of 20 pages of the other site within 5 s
#   a delayed retry, 16 pages of the busy site: 0 of 20 pages of the other site within 5 s
source "$(dirname "$0")/common.sh"

pypi scrapy-extensions==1.2.0 scrapy==2.19.0
cd "$work"
cat >crawl.py <<'PY'
import sys
import time

from loopback import serving
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

name, busy_pages = sys.argv[1], int(sys.argv[2])
SETTINGS = {"LOG_ENABLED": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
DELAYED = {
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
        "scrapy_extensions.DelayedRetryMiddleware": 550,
    },
    "DELAYED_RETRY_HTTP_CODES": [503],
    "DELAYED_RETRY_DELAY": 8,
    "DELAYED_RETRY_TIMES": 1,
}
times = []
began = 0.0


def answer(path):
    global began
    began = began or time.monotonic()
    if path.startswith("/busy/"):
        return 503, {"Content-Type": "text/plain"}, b"busy"
    times.append(time.monotonic() - began)
    return 200, {"Content-Type": "text/plain"}, b"a page"


class Pages(Spider):
    name = "pages"
    handle_httpstatus_list = [503]

    async def start(self):
        for number in range(busy_pages):
            yield Request(f"{server.url}/busy/{number}", priority=1)
        for number in range(20):
            yield Request(server.url.replace("127.0.0.1", "localhost") + f"/{number}")

    def parse(self, response):
        pass


with serving(answer) as server:
    process = CrawlerProcess(SETTINGS | DELAYED if name != "Scrapy's retry" else SETTINGS)
    process.crawl(Pages)
    process.start()
assert len(times) == 20
print(f"{name}: {sum(each < 5 for each in times)} of 20 pages of the other site within 5 s")
PY
{
    "$python" crawl.py "Scrapy's retry" 16
    "$python" crawl.py "a delayed retry, 10 pages of the busy site" 10
    "$python" crawl.py "a delayed retry, 16 pages of the busy site" 16
} | confirm
