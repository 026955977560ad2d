#!/usr/bin/env bash
# Scrapy follows a meta refresh in the error page of a missing robots.txt, and obeys what it finds there.
#
# Version: Scrapy 2.19.0 with Protego 0.7.0 (PyPI).
# Source: RFC 9309, section 2.3.1.3: a 4xx means that there are no restrictions; section 2.3.1.2: redirects are those of
# HTTP. Scrapy's manual says of RobotsTxtMiddleware that it filters by robots.txt, and of MetaRefreshMiddleware that it
# handles HTML.
# Expected: a 404 for robots.txt is the end of the matter.
# Behaviour: a request for robots.txt passes through all middlewares, and MetaRefreshMiddleware reads each HTML page,
# whatever its status. The page that it goes to, after up to 100 seconds, is parsed as robots.txt.
# What follows: "not found, you will be taken to the front page" costs a request that no rule has been asked about, and
# its text decides for the whole site.
# Output:
#   404, HTML: requested /robots.txt /a
#   404, HTML with a refresh to /welcome: requested /robots.txt /welcome; refused /a
#   200, HTML with a refresh to /welcome: requested /robots.txt /welcome; refused /a
#   200, text with the same characters: requested /robots.txt /a
source "$(dirname "$0")/common.sh"

pypi scrapy==2.19.0 protego==0.7.0
cd "$work"
cat >crawl.py <<'PY'
import sys

from loopback import serving
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

name = sys.argv[1]
status, kind = int(name[:3]), "text/html" if "HTML" in name else "text/plain"
REFRESH = '<meta http-equiv="refresh" content="1; url=/welcome">' if "the same" in name or "refresh" in name else ""
refused = []


def answer(path):
    if path == "/robots.txt":
        body = f"<html><head>{REFRESH}</head><body>Not found</body></html>"
        return status, {"Content-Type": kind}, body.encode()
    return 200, {"Content-Type": "text/plain"}, b"How to write a robots.txt:\nUser-agent: *\nDisallow: /\n"


class Pages(Spider):
    name = "pages"

    async def start(self):
        yield Request(f"{server.url}/a", errback=self.refuse)

    def parse(self, response):
        pass

    def refuse(self, failure):
        refused.append("/a")


with serving(answer) as server:
    process = CrawlerProcess({"LOG_ENABLED": False, "ROBOTSTXT_OBEY": True})
    process.crawl(Pages)
    process.start()
print(f"{name}: requested {' '.join(server.log)}{'; refused ' if refused else ''}{' '.join(refused)}")
PY
for case in "404, HTML" "404, HTML with a refresh to /welcome" "200, HTML with a refresh to /welcome" "200, text with the same characters"; do
    "$python" crawl.py "$case"
done | confirm
