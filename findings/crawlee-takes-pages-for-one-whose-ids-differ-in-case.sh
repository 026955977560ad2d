#!/usr/bin/env bash
# Crawlee for Python fetches one of /watch?v=aB1 and /watch?v=Ab1, and one of /a%2Fb and /a/b.
#
# Version: crawlee 1.11.0 (PyPI).
# Source: its documentation of a request's unique key: scheme and host in lower case, utm_ parameters removed, the rest
# sorted; RFC 3986, section 6.2.2.1: the other parts of a URL are case-sensitive, and section 2.2: an encoded slash is
# another one.
# Expected: a request for each of the pages.
# Behaviour: the whole URL is decoded and written in lower case for the comparison, with path and query, and the
# slash at its end is removed.
# What follows: of a site whose pages have short ids, as those of videos and links are, the crawl leaves out some, in
# silence; which ones depends on the order. robots.txt may admit the one and not the other.
# Output:
#   /watch?v=aB1, /watch?v=Ab1: 1 of 2 fetched
#   /s/xY, /s/Xy: 1 of 2 fetched
#   /a%2Fb, /a/b: 1 of 2 fetched
#   /list, /list/: 1 of 2 fetched
#   /p1, /p2: 2 of 2 fetched
source "$(dirname "$0")/common.sh"

pypi 'crawlee[httpx]==1.11.0'
cd "$work"
export CRAWLEE_STORAGE_DIR=$work/storage
"$python" - <<'PY' 2>"$work/errors" | confirm
import asyncio
import logging

from crawlee.crawlers import HttpCrawler
from crawlee.http_clients import HttpxHttpClient
from loopback import serving

PAIRS = (
    ("/watch?v=aB1", "/watch?v=Ab1"),
    ("/s/xY", "/s/Xy"),
    ("/a%2Fb", "/a/b"),
    ("/list", "/list/"),
    ("/p1", "/p2"),
)


async def crawl(urls):
    crawler = HttpCrawler(http_client=HttpxHttpClient(), configure_logging=False)

    @crawler.router.default_handler
    async def page(context):
        pass

    await crawler.run(urls)


logging.disable(logging.CRITICAL)
with serving(lambda path: (200, {"Content-Type": "text/html"}, b"<p>a page")) as server:
    asyncio.run(crawl([server.url + path for pair in PAIRS for path in pair]))
    for pair in PAIRS:
        print(f"{', '.join(pair)}: {len(set(pair) & set(server.log))} of 2 fetched")
PY
