#!/usr/bin/env bash
# nginx keeps a robots.txt for its whole lifetime that another cache has kept that long already.
#
# Version: nginx 1.22.1-9+deb12u* (Debian 12), proxy_cache without times of its own.
# Source: RFC 9111, sections 4.2.3 and 5.1: a cache adds the Age that it receives, and sends its sum.
# Expected: a response with "Cache-Control: max-age=600" and "Age: 700" is stale on arrival; one with
# "Age: 598" is asked for again after two seconds; Age grows while a response is kept.
# Behaviour: nginx counts its own seconds alone, and passes the received Age on as it was.
# What follows: behind two caches a robots.txt can be twice as old as the site allows. A crawler that
# subtracts Age sees a file that is stale in every response, or always two seconds before it.
# Output:
#   Age: 700 -> the origin gets 1 of 2 requests; Age of the second response, 3 s later: 700
#   Age: 598 -> the origin gets 1 of 2 requests; Age of the second response, 3 s later: 598
source "$(dirname "$0")/common.sh"

debian 'nginx=1.22.1-*'
"$python" - <<'PY' | confirm
import time

from caches import Origin, get, nginx, running

origin = Origin()
with running(nginx, origin) as port:
    for age in ("700", "598"):
        origin.answer(200, b"", ("Cache-Control", "max-age=600"), ("Age", age))
        get(port, f"/{age}/robots.txt")
        time.sleep(3)
        headers = get(port, f"/{age}/robots.txt")[1]
        print(f"Age: {age} -> the origin gets {origin.requests} of 2 requests; "
              f"Age of the second response, 3 s later: {headers['age']}")
PY
