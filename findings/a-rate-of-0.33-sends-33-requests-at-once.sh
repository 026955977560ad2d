#!/usr/bin/env bash
# requests-ratelimiter reads a rate of 0.33 per second as 33 in 100 seconds, and sends them at once.
#
# Version: requests-ratelimiter 0.10.0 with pyrate-limiter 4.5.1 (PyPI).
# Source: its README: per_second is the most requests a second; burst, by default 1, is how many may
# follow each other before that limit is applied.
# Expected: a crawl delay of 3 s, as per_second=1/3 or 0.33, lets one request through, and the next 3 s
# later; per_second=0.4 keeps a crawl delay of 2.5 s.
# Behaviour: the rate is turned into a fraction, and numerator and denominator into "so many requests
# in so many seconds": 1/3 is 1 in 3 s, 0.4 is 2 in 5 s, 0.33 is 33 in 100 s.
# What follows: a rounded rate breaks the crawl delay 32 times, an exact one keeps it.
# Output:
#   per_second=1/3: requests in the first 1.5 s: 1
#   per_second=0.33: requests in the first 1.5 s: 33
#   per_second=0.4: requests in the first 1.5 s: 2
#   per_second=0.5: requests in the first 1.5 s: 1
source "$(dirname "$0")/common.sh"

pypi requests-ratelimiter==0.10.0 pyrate-limiter==4.5.1 requests==2.34.2
"$python" - <<'PY' | confirm
import os
import threading
import time

from loopback import serving
from requests_ratelimiter import LimiterSession

with serving(lambda path: (200, {}, b"")) as server:
    for name, rate in (("1/3", 1 / 3), ("0.33", 0.33), ("0.4", 0.4), ("0.5", 0.5)):
        url = f"{server.url}/{name.replace('/', '-')}"
        session = LimiterSession(per_second=rate)

        def crawl(session=session, url=url):
            while True:
                session.get(url)

        threading.Thread(target=crawl, daemon=True).start()
        time.sleep(1.5)
        count = sum(path == url.removeprefix(server.url) for path in list(server.log))
        print(f"per_second={name}: requests in the first 1.5 s: {count}", flush=True)
    os._exit(0)
PY
