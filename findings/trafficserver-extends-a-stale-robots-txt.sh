#!/usr/bin/env bash
# Traffic Server answers a 503 of robots.txt with an old file, and an Expires of its own in 30 minutes.
#
# Version: trafficserver 9.2.5+ds-0+deb12u* (Debian 12), its defaults.
# Source: RFC 9111, section 4.2.4: a cache may send a stale response where the origin gives none;
# RFC 9309, section 2.3.1.4: a crawler stops for a 503.
# Expected: the 503, or the stale file as it was stored. A stale response says when it expired.
# Behaviour: the file of one second's lifetime is sent for every later 503 (for a week by default). It
# has a header that the origin never sent: Expires half an hour ahead. Nothing says that it is stale:
# a Warning is added only where the origin cannot be reached.
# What follows: no crawler sees that the site is in trouble. A reader of Expires keeps the old rules for
# half an hour each time; max-age=1, which counts for more, is still there.
# Output:
#   fresh: status 200, max-age=1, no Expires
#   the origin answers 503: status 200, max-age=1, Age above max-age: True, Expires in 30 min, Warning: None
#   the same with must-revalidate: status 503
source "$(dirname "$0")/common.sh"

debian 'trafficserver=9.2.5*'
"$python" - <<'PY' | confirm
import time
from email.utils import parsedate_to_datetime

from caches import Origin, get, running, trafficserver

origin = Origin()
with running(trafficserver, origin) as port:
    origin.answer(200, b"rules", ("Cache-Control", "max-age=1"))
    status, headers, _ = get(port)
    print(f"fresh: status {status}, {headers['cache-control']}, "
          f"{'an' if 'expires' in headers else 'no'} Expires")
    origin.answer(200, b"rules", ("Cache-Control", "max-age=1, must-revalidate"))
    get(port, "/2/robots.txt")
    time.sleep(3)
    origin.answer(503, b"")
    status, headers, _ = get(port)
    minutes = (parsedate_to_datetime(headers["expires"]).timestamp() - time.time()) / 60
    print(f"the origin answers 503: status {status}, {headers['cache-control']}, "
          f"Age above max-age: {int(headers['age']) > 1}, Expires in {minutes:.0f} min, "
          f"Warning: {headers.get('warning')}")
    print(f"the same with must-revalidate: status {get(port, '/2/robots.txt')[0]}")
PY
