#!/usr/bin/env bash
# Scrapy's RFC2616Policy keeps a response whose first Cache-Control line is "no-store" if a second one follows.
#
# Version: Scrapy 2.19.0, HttpCacheMiddleware with RFC2616Policy, against requests-cache 1.3.3 (PyPI).
# Source: RFC 9110, section 5.3: lines of one name are one value, joined by commas; nginx's "expires" and "add_header"
# write two such lines. Scrapy's documentation: no response is stored with no-store; it lists what is missing.
# Expected: what the same directives do in one line.
# Behaviour: of several lines the policy reads the last. In the other order all is well.
# What follows: pages, and a robots.txt, that a site wants nobody to keep are kept, for as long as the line behind
# it allows.
# Output:
#   no-store, max-age=600 in one line: Scrapy 3 requests of 3, requests-cache 3
#   max-age=600 and no-store in two: Scrapy 3 requests of 3, requests-cache 3
#   no-store and max-age=600 in two: Scrapy 1 request of 3, requests-cache 3
#   no-cache and max-age=600 in two: Scrapy 1 request of 3, requests-cache 3
source "$(dirname "$0")/common.sh"

pypi scrapy==2.19.0 requests-cache==1.3.3
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

import requests_cache
import scrapy
from scrapy.crawler import CrawlerProcess

CASES = {
    "no-store, max-age=600 in one line": ["no-store, max-age=600"],
    "max-age=600 and no-store in two": ["max-age=600", "no-store"],
    "no-store and max-age=600 in two": ["no-store", "max-age=600"],
    "no-cache and max-age=600 in two": ["no-cache", "max-age=600"],
}
counts = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        counts[self.path] = counts.get(self.path, 0) + 1
        self.send_response(200)
        for value in CASES[unquote(self.path.split("/")[2])]:
            self.send_header("Cache-Control", value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
root = f"http://127.0.0.1:{server.server_port}"


class Spider(scrapy.Spider):
    name = "spider"
    custom_settings = {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
        "HTTPCACHE_DIR": "cache",
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        for name in CASES:
            for _ in range(3):
                request = scrapy.Request(f"{root}/scrapy/{quote(name, safe='')}", dont_filter=True)
                await self.crawler.engine.download_async(request)
        return
        yield


process = CrawlerProcess()
process.crawl(Spider)
process.start()
session = requests_cache.CachedSession(backend="memory", cache_control=True)
for name in CASES:
    path = quote(name, safe="")
    for _ in range(3):
        session.get(f"{root}/requests/{path}")
    by_scrapy = counts[f"/scrapy/{path}"]
    plural = "" if by_scrapy == 1 else "s"
    print(f"{name}: Scrapy {by_scrapy} request{plural} of 3, requests-cache {counts[f'/requests/{path}']}")
PY
