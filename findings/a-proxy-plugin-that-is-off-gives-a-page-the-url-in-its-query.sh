#!/usr/bin/env bash
# ScrapeOps' plugin, switched off, gives a response the URL that its own URL has as parameter "url".
#
# Version: scrapeops-scrapy-proxy-sdk 1.1, Scrapy 2.19.0 (PyPI).
# Source: its setting SCRAPEOPS_PROXY_ENABLED, which is off by default: requests then go to the site itself.
# Expected: a plugin that is off changes no response.
# Behaviour: process_response does not look at the setting. It replaces each response's URL by the
# parameter "url" of its query, since the URLs of its own service have one. A page for sharing, a preview
# or a login that names its target so gets the URL of the target, though that was never requested.
# What follows: links of the page are resolved against the other site and are requested there; items have a
# wrong source; an offsite filter, a cache and a check of robots.txt see another site than the one asked.
# Output:
#   /page: response.url /page, its link /next
#   /share?url=http://other.example/a: response.url http://other.example/a, its link http://other.example/next
source "$(dirname "$0")/common.sh"

pypi scrapeops-scrapy-proxy-sdk==1.1 scrapy==2.19.0
cd "$work"
"$python" - <<'PY' | confirm
import scrapy
from loopback import serving
from scrapy.crawler import CrawlerProcess

PATHS = ("/page", "/share?url=http://other.example/a")
seen = {}


class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        for path in PATHS:
            yield scrapy.Request(self.site + path, cb_kwargs={"path": path})

    def parse(self, response, path):
        link = response.urljoin(response.css("a::attr(href)").get())
        seen[path] = [url.removeprefix(self.site) for url in (response.url, link)]


settings = {
    "DOWNLOADER_MIDDLEWARES": {
        "scrapeops_scrapy_proxy_sdk.scrapeops_scrapy_proxy_sdk.ScrapeOpsScrapyProxySdk": 725
    },
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
with serving(lambda path: (200, {"Content-Type": "text/html"}, b'<a href="/next">')) as site:
    process = CrawlerProcess(settings)
    process.crawl(Pages, site=site.url)
    process.start()
assert sorted(site.log) == sorted(PATHS)
for path in PATHS:
    print(f"{path}: response.url {seen[path][0]}, its link {seen[path][1]}")
PY
