#!/usr/bin/env bash
# CacheControl keeps a permanent redirect for ever, whatever lifetime the answer states.
#
# Version: CacheControl 0.14.4, against requests-cache 1.3.3 and hishel 2.0.0 (PyPI).
# Source: RFC 9110, section 15.4.2: a 301 may be kept by heuristics "unless otherwise indicated by ...
# explicit cache controls"; RFC 9111, section 4.2: a stored response is fresh for its lifetime.
# Expected: a 301 with "max-age=1" is asked for again after a second, one with "no-cache" each time.
# Behaviour: statuses 301 and 308 are stored and used again without a look at their headers; "no-store"
# alone prevents it.
# What follows: a site that moved its robots.txt for an hour, or sent a login page's redirect for it,
# is judged by the other file as long as the cache lives, even after the redirect has gone.
# Output:
#   CacheControl, max-age=1: the server gets 1 of 2 requests; second answer: rules of /old
#   CacheControl, no-cache: the server gets 1 of 2 requests; second answer: rules of /old
#   requests-cache, max-age=1: the server gets 2 of 2 requests; second answer: own rules
#   requests-cache, no-cache: the server gets 2 of 2 requests; second answer: own rules
#   hishel, max-age=1: the server gets 2 of 2 requests; second answer: own rules
#   hishel, no-cache: the server gets 2 of 2 requests; second answer: own rules
source "$(dirname "$0")/common.sh"

pypi CacheControl==0.14.4 requests-cache==1.3.3 'hishel[requests]==2.0.0' requests==2.34.2
cd "$work"
"$python" - <<'PY' | confirm
import time
from email.utils import formatdate

import requests
from cachecontrol import CacheControl
from hishel import SqliteStorage
from hishel.requests import CacheAdapter
from loopback import serving
from requests_cache import CachedSession

lifetime, moved = "", True


def answer(path):
    """A robots.txt that is a redirect at first, and a file of its own later."""
    headers = {"Date": formatdate(usegmt=True), "Cache-Control": "no-store"}
    if path != "/robots.txt":
        return 200, headers, b"rules of /old"
    if moved:
        return 301, {**headers, "Location": "/old", "Cache-Control": lifetime}, b""
    return 200, headers, b"own rules"


def with_hishel(name):
    session = requests.Session()
    storage = SqliteStorage(database_path=f"hishel-{name}.db")
    session.mount("http://", CacheAdapter(storage=storage, rfc=True))
    return session


CACHES = {
    "CacheControl": lambda name: CacheControl(requests.Session()),
    "requests-cache": lambda name: CachedSession(f"cache-{name}", cache_control=True),
    "hishel": with_hishel,
}

with serving(answer) as server:
    for cache, make in CACHES.items():
        for lifetime in ("max-age=1", "no-cache"):
            session, moved = make(lifetime), True
            server.log.clear()
            session.get(f"{server.url}/robots.txt")
            moved = False
            time.sleep(2.5)
            text = session.get(f"{server.url}/robots.txt").text
            count = server.log.count("/robots.txt")
            print(f"{cache}, {lifetime}: the server gets {count} of 2 requests; second answer: {text}")
PY
