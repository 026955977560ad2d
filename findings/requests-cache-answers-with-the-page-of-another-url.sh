#!/usr/bin/env bash
# requests-cache answers "/a/b" with the page of "/a//b", and "/list?tag=" with that of "/list".
#
# Version: requests-cache 1.3.3 with url-normalize 3.1.0, against CacheControl 0.14.4 (PyPI).
# Source: RFC 9111, section 2: the key of a cache is the URI; RFC 3986, section 6.2: normalization must not map URIs of
# different resources to one; the docstring of normalize_url names parameters, host, scheme and port.
# Expected: a hit for the same URL, perhaps with "~" for "%7E".
# Behaviour: double slashes become one, a parameter with an empty value is dropped, repeated ones are sorted, and each
# byte of ISO 8859-1 becomes U+FFFD. The response has the other's URL, and its from_cache is True.
# What follows: a crawl stores one page under two URLs and never requests the second. Archived pages at
# /web/2026/https://… are those that have such a slash.
# Output:
#   /a//b, then /a/b: requests-cache /a//b, CacheControl /a/b
#   /list, then /list?tag=: requests-cache /list, CacheControl /list?tag=
#   /list?id=2&id=1, then /list?id=1&id=2: requests-cache /list?id=2&id=1, CacheControl /list?id=1&id=2
#   /list?q=caf%E9, then /list?q=caf%E8: requests-cache /list?q=caf%E9, CacheControl /list?q=caf%E8
source "$(dirname "$0")/common.sh"

pypi requests-cache==1.3.3 url-normalize==3.1.0 CacheControl==0.14.4
"$python" - <<'PY' | confirm
import requests
from cachecontrol import CacheControl
from loopback import serving
from requests_cache import CachedSession

PAIRS = (
    ("/a//b", "/a/b"),
    ("/list", "/list?tag="),
    ("/list?id=2&id=1", "/list?id=1&id=2"),
    ("/list?q=caf%E9", "/list?q=caf%E8"),
)
HEADERS = {"Content-Type": "text/plain", "Cache-Control": "max-age=600"}


def second(session, root, pair):
    return [session.get(root + path).text for path in pair][1]


with serving(lambda path: (200, HEADERS, path.encode())) as server:
    for pair in PAIRS:
        by_requests_cache = second(CachedSession(backend="memory"), server.url, pair)
        by_cachecontrol = second(CacheControl(requests.Session()), server.url, pair)
        print(f"{pair[0]}, then {pair[1]}: requests-cache {by_requests_cache}, CacheControl {by_cachecontrol}")
PY
