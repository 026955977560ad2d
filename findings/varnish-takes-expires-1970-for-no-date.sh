#!/usr/bin/env bash
# Varnish keeps a robots.txt for two minutes that expired on 1 January 1970.
#
# Version: varnish 7.1.1-2+deb12u1 (Debian 12), its built-in configuration.
# Source: RFC 9111, section 5.3: Expires is the time after which a response is stale, and a cache
# must read an invalid date, "especially including the value 0", as a time in the past.
# Expected: all four expired responses are asked for again.
# Behaviour: a date of 2015 is obeyed. The first second of 1970, the date that many servers write for
# "do not keep this", and "0" count as no header at all, so the default lifetime of 120 s applies.
# What follows: crawlers get the old rules for two minutes from a site that wanted new ones seen at
# once, in a response that looks expired to every reader of RFC 9111.
# Output:
#   Expires: 0 -> the origin gets 1 of 3 requests; last rules: old
#   Expires: -1 -> the origin gets 1 of 3 requests; last rules: old
#   Expires: Thu, 01 Jan 1970 00:00:00 GMT -> the origin gets 1 of 3 requests; last rules: old
#   Expires: Thu, 01 Jan 2015 00:00:00 GMT -> the origin gets 3 of 3 requests; last rules: new
#   no Expires -> the origin gets 1 of 3 requests; last rules: old
source "$(dirname "$0")/common.sh"

debian 'varnish=7.1.1-*'
"$python" - <<'PY' | confirm
import time

from caches import Origin, get, running, varnish

VALUES = "0", "-1", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 2015 00:00:00 GMT", None
origin = Origin()
with running(varnish, origin) as port:
    for number, value in enumerate(VALUES):
        headers = [("Expires", value)] if value else []
        path = f"/{number}/robots.txt"
        origin.answer(200, b"old", *headers)
        get(port, path)
        asked = origin.requests
        origin.answer(200, b"new", *headers)
        for _ in range(2):  # a stale answer goes out at once, a new one is fetched meanwhile
            rules = get(port, path)[2]
            time.sleep(1)
        name = f"Expires: {value}" if value else "no Expires"
        asked += origin.requests
        print(f"{name} -> the origin gets {asked} of 3 requests; last rules: {rules}")
PY
