#!/usr/bin/env bash
# CacheControl answers with a stored file that says "no-cache, max-age=3600", without a request.
#
# Version: CacheControl 0.14.4 (pip has it within itself), against requests-cache 1.3.3, with requests 2.34.2 (PyPI).
# Source: RFC 9111, section 5.2.2.4: such a response must not be used for another request without validation, whatever
# its lifetime. Apache's mod_expires adds max-age and Expires to a no-cache that is there already.
# Expected: each use is preceded by a conditional request, as in requests-cache.
# Behaviour: of a response CacheControl reads no-store and max-age; "no-cache" is looked for in requests alone. Without
# max-age it goes by Expires.
# What follows: a site that closes a folder and has forbidden use without a check is fetched by the old rules.
# Output:
#   requests-cache, no-cache, max-age=3600: 4 requests, new rules seen
#   requests-cache, no-cache and Expires in an hour: 4 requests, new rules seen
#   CacheControl, no-cache, max-age=3600: 1 request, old rules kept
#   CacheControl, no-cache and Expires in an hour: 1 request, old rules kept
#   CacheControl, no-cache: 4 requests, new rules seen
source "$(dirname "$0")/common.sh"

pypi CacheControl==0.14.4 requests-cache==1.3.3 requests==2.34.2
cd "$work"
cat >clients.py <<'PY'
import time
from email.utils import formatdate

import requests
import requests_cache
from cachecontrol import CacheControl
from loopback import serving

EXPIRES = "no-cache and Expires in an hour"


def show(name, session, caching):
    rules = ["User-agent: *\nDisallow:\n"]
    headers = {"Content-Type": "text/plain", "ETag": '"1"', "Date": formatdate(usegmt=True)}
    if caching == EXPIRES:
        headers |= {"Cache-Control": "no-cache", "Expires": formatdate(time.time() + 3600, usegmt=True)}
    else:
        headers |= {"Cache-Control": caching}
    with serving(lambda path: (200, headers, rules[-1].encode())) as server:
        for _ in range(3):
            session.get(f"{server.url}/robots.txt")
        rules.append("User-agent: *\nDisallow: /private/\n")
        body = session.get(f"{server.url}/robots.txt").text
        count = len(server.log)
    seen = "new rules seen" if body == rules[-1] else "old rules kept"
    print(f"{name}, {caching}: {count} request{'s' * (count > 1)}, {seen}")


for caching in ("no-cache, max-age=3600", EXPIRES):
    show("requests-cache", requests_cache.CachedSession(backend="memory", cache_control=True), caching)
for caching in ("no-cache, max-age=3600", EXPIRES, "no-cache"):
    show("CacheControl", CacheControl(requests.Session()), caching)
PY
"$python" clients.py | confirm
