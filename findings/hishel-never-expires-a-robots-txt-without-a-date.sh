#!/usr/bin/env bash
# hishel keeps a response without a Date header for ever, whatever its max-age.
#
# Version: hishel 2.0.0 with rfc=True, against CacheControl 0.14.4 and requests-cache 1.3.3 (PyPI).
# Source: RFC 9110, section 6.6.1: a recipient with a clock records when a response without Date
# came, and counts from there; a server without a clock may leave Date out.
# Expected: with "max-age=1", four requests at intervals of 2.2 s reach the server four times.
# Behaviour: the age is the time since Date. Without one it is 0, each time, so that the copy is always
# fresh. With the Date of a clock that is an hour ahead it is 0 for that hour. The others ask again.
# Output:
#   hishel, Date now: the server gets 4 of 4 requests
#   hishel, Date an hour ahead: the server gets 1 of 4 requests
#   hishel, without Date: the server gets 1 of 4 requests
#   CacheControl, without Date: the server gets 4 of 4 requests
#   requests-cache, without Date: the server gets 4 of 4 requests
source "$(dirname "$0")/common.sh"

pypi 'hishel[requests]==2.0.0' CacheControl==0.14.4 requests-cache==1.3.3 requests==2.34.2
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


def with_hishel(file):
    session = requests.Session()
    session.mount("http://", CacheAdapter(storage=SqliteStorage(database_path=file), rfc=True))
    return session


DATES = {"Date now": 0, "Date an hour ahead": 3600}


def answer(path):
    headers = {"Cache-Control": "max-age=1"}
    if kind in DATES:
        headers["Date"] = formatdate(time.time() + DATES[kind], usegmt=True)
    return 200, headers, b"User-agent: *\nDisallow:\n"


with serving(answer) as server:
    for cache, session, kind in (
        ("hishel", with_hishel("first.db"), "Date now"),
        ("hishel", with_hishel("second.db"), "Date an hour ahead"),
        ("hishel", with_hishel("third.db"), "without Date"),
        ("CacheControl", CacheControl(requests.Session()), "without Date"),
        ("requests-cache", CachedSession("cache", cache_control=True), "without Date"),
    ):
        server.log.clear()
        for _ in range(4):
            session.get(f"{server.url}/robots.txt")
            time.sleep(2.2)
        print(f"{cache}, {kind}: the server gets {len(server.log)} of 4 requests", flush=True)
PY
