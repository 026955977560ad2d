#!/usr/bin/env bash
# LangChain's SitemapLoader with requests_per_second=1 requests 60 pages within a second.
#
# Version: langchain-community 0.4.2 with lxml 6.1.3 (PyPI).
# Source: its documentation: the limit of concurrent requests is 2 per second by default; raise it if you are not
# concerned about being a good citizen. Its docstring: the maximum number of concurrent requests.
# Expected: 60 pages at one per second take about a minute, and two minutes at 0.5.
# Behaviour: the number is that of requests under way at once. Nothing waits: the next request leaves when an answer
# has arrived.
# What follows: the faster a server answers, the more it is asked. The value 1, which looks like the most careful crawl
# there is, has no pause; 0.5, for a delay of two seconds, never comes to zero as it is counted down, and limits nothing.
# Output:
#   requests_per_second=1: 60 pages, less than 5 s: True, more than 2 at once: False
#   requests_per_second=2: 60 pages, less than 5 s: True, more than 2 at once: False
#   requests_per_second=0.5: 60 pages, less than 5 s: True, more than 2 at once: True
source "$(dirname "$0")/common.sh"

pypi langchain-community==0.4.2 lxml==6.1.3 beautifulsoup4==4.14.2
cd "$work"
USER_AGENT=example "$python" - <<'PY' 2>"$work/errors" | confirm
import threading
import time

from langchain_community.document_loaders.sitemap import SitemapLoader
from loopback import serving

PAGES = 60
lock = threading.Lock()
now = most = 0


def answer(path):
    global now, most
    if path == "/sitemap.xml":
        urls = "".join(f"<url><loc>{site.url}/{n}</loc></url>" for n in range(PAGES))
        namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = f'<urlset xmlns="{namespace}">{urls}</urlset>'
        return 200, {"Content-Type": "application/xml"}, text.encode()
    with lock:
        now += 1
        most = max(most, now)
    time.sleep(0.01)
    with lock:
        now -= 1
    return 200, {"Content-Type": "text/html"}, b"<p>page</p>"


with serving(answer) as site:
    for rate in (1, 2, 0.5):
        most = 0
        site.log.clear()
        loader = SitemapLoader(
            f"{site.url}/sitemap.xml", requests_per_second=rate, restrict_to_same_domain=False
        )
        start = time.monotonic()
        pages = len(loader.load())
        fast = time.monotonic() - start < 5
        assert len(site.log) == PAGES + 1
        many = f"less than 5 s: {fast}, more than 2 at once: {most > 2}"
        print(f"requests_per_second={rate}: {pages} pages, {many}")
PY
