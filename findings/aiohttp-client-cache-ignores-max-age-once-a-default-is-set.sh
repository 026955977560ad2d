#!/usr/bin/env bash
# aiohttp-client-cache obeys max-age only where no lifetime is set for responses without one.
#
# Version: aiohttp-client-cache 0.15.0 with aiohttp 3.14.5 (PyPI), cache_control=True.
# Source: its user guide: if enabled, Cache-Control directives take priority over any other expire_after value; in its
# order of precedence headers of the response stand before the expiration of a session.
# Expected: expire_after=3600 is for responses that state no lifetime; max-age=1 is a second.
# Behaviour: it is the other way round: the headers are read where the session has no lifetime. max-age=0 and no-store
# alone are obeyed in either case. Without expire_after, a response without headers is kept for ever.
# What follows: one cannot have both, the site's lifetimes and one of one's own for the rest. A robots.txt that the site
# lets nobody keep for longer than a second is kept for an hour.
# Output:
#   no expire_after: max-age=1 2 requests, Expires in 2015 2 requests, no headers 1 request
#   expire_after=3600: max-age=1 1 request, Expires in 2015 1 request, no headers 1 request
source "$(dirname "$0")/common.sh"

pypi aiohttp-client-cache==0.15.0 aiohttp==3.14.5
cd "$work"
"$python" - <<'PY' | confirm
import asyncio

from aiohttp_client_cache import CacheBackend, CachedSession
from loopback import serving

CASES = {
    "max-age=1": {"Cache-Control": "max-age=1"},
    "Expires in 2015": {"Expires": "Thu, 01 Jan 2015 00:00:00 GMT"},
    "no headers": {},
}


async def requests(headers, options):
    with serving(lambda path: (200, headers, b"User-agent: *\n")) as site:
        cache = CacheBackend(cache_control=True, **options)
        async with CachedSession(cache=cache) as session:
            for _ in range(2):
                async with session.get(f"{site.url}/robots.txt") as response:
                    await response.text()
                await asyncio.sleep(1.2)
        return len(site.log)


async def main():
    for label, options in (("no expire_after", {}), ("expire_after=3600", {"expire_after": 3600})):
        counts = []
        for case, headers in CASES.items():
            count = await requests(headers, options)
            counts.append(f"{case} {count} request{'s' * (count > 1)}")
        print(f"{label}: {', '.join(counts)}")


asyncio.run(main())
PY
