#!/usr/bin/env bash
# http-wizz requests a page six times that answers 404 or 410, and a robots.txt that a site does not have.
#
# Version: http-wizz 1.0.2 with aiohttp 3.14.5 (PyPI), its defaults but for the delay of a retry.
# Source: its README: for web crawlers, with strict rate limiting; requests that failed are retried, 429 and 503 with
# Retry-After. RFC 9110, section 15.5.11: 410 is likely to be permanent.
# Expected: retries after an error of the network, 429 and 5xx, as with Scrapy, urllib3 and got.
# Behaviour: each status but 200 is a failure. With the default delay of a second, doubled each time, the answer None
# comes after half a minute. 201 and 204 are failures, too.
# What follows: a site gets six requests for each dead link, and a crawl of 1,000 sites without robots.txt sends
# 6,000 requests for it.
# Output:
#   200: 1 request, text True
#   404: 6 requests, text False
#   410: 6 requests, text False
#   403: 6 requests, text False
#   204: 6 requests, text False
source "$(dirname "$0")/common.sh"

pypi http-wizz==1.0.2 aiohttp==3.14.5
cd "$work"
"$python" - <<'PY' 2>"$work/errors" | confirm
import asyncio

from http_wizz import WizzClient
from loopback import serving


async def main():
    for status in (200, 404, 410, 403, 204):
        body = b"" if status == 204 else b"text"
        with serving(lambda path, s=status, b=body: (s, {"Content-Type": "text/plain"}, b)) as site:
            async with WizzClient(initial_retry_delay=0.01) as client:
                (text,) = await client.fetch_all([f"{site.url}/robots.txt"])
        count = len(site.log)
        print(f"{status}: {count} request{'s' * (count > 1)}, text {text is not None}")


asyncio.run(main())
PY
