#!/usr/bin/env bash
# aiohttp requests /login?next=/cart where it is given next=%2Fcart: an allowed URL becomes a disallowed one.
#
# Version: aiohttp 3.14.5 with yarl 1.25.1, against httpx 0.28.1 and requests 2.34.2, verdicts by protego 0.7.0 (PyPI).
# Source: RFC 3986, section 2.2: URIs that differ in the encoding of a reserved character are not equivalent; RFC 9309,
# section 2.2.2, compares paths so. aiohttp's manual: URLs are canonicalized, with encoded digits as its example.
# Expected: the URL that was judged is requested, as httpx and requests do it; digits and letters may be decoded.
# Behaviour: characters that may stand in a path or a query are decoded, delimiters among them; in a path not the slash.
# What follows: a crawler that asks robots.txt before each request, and then makes it with aiohttp, stands in the log
# with disallowed URLs. A signature over the query does not fit any more. URL(…, encoded=True) keeps what is given.
# Output:
#   /login?next=%2Fcart (allowed): httpx and requests the same, aiohttp /login?next=/cart (disallowed)
#   /list?tags=a%2Cb (disallowed): httpx and requests the same, aiohttp /list?tags=a,b (disallowed)
#   /list%3Bsid=1 (disallowed): httpx and requests the same, aiohttp /list;sid=1 (disallowed)
#   /a%2Fb (allowed): httpx and requests the same, aiohttp /a%2Fb (allowed)
source "$(dirname "$0")/common.sh"

pypi aiohttp==3.14.5 yarl==1.25.1 httpx==0.28.1 requests==2.34.2 protego==0.7.0
"$python" - <<'PY' | confirm
import asyncio

import aiohttp
import httpx
import requests
from loopback import serving
from protego import Protego

RULES = Protego.parse("User-agent: *\nDisallow: /*?next=/\nDisallow: /*?tags=*,\nDisallow: /*;sid=\nDisallow: /a/b\n")


async def with_aiohttp(url):
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        await response.read()


def verdict(path):
    return "allowed" if RULES.can_fetch(f"https://example.com{path}", "examplebot") else "disallowed"


with serving(lambda path: (200, {"Content-Type": "text/plain"}, b"a page")) as server:
    for path in ("/login?next=%2Fcart", "/list?tags=a%2Cb", "/list%3Bsid=1", "/a%2Fb"):
        server.log.clear()
        httpx.get(server.url + path)
        requests.get(server.url + path)
        asyncio.run(with_aiohttp(server.url + path))
        assert server.log[:2] == [path, path]
        seen = server.log[2]
        print(f"{path} ({verdict(path)}): httpx and requests the same, aiohttp {seen} ({verdict(seen)})")
PY
