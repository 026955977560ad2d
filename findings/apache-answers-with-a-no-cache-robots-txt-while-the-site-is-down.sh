#!/usr/bin/env bash
# Apache answers from its cache while the origin fails, though the copy says "no-cache".
#
# Version: Apache 2.4.71-1~deb12u* (Debian 12), mod_cache on disk with its defaults.
# Source: RFC 9111, section 4.2.4: a cache must not send a stale response that no-cache,
# must-revalidate, proxy-revalidate or an applicable s-maxage prohibits.
# Expected: when the origin answers 503, a copy with max-age alone is sent (Apache's CacheStaleOnError is
# on), and the 503 itself for a copy with one of these four.
# Behaviour: must-revalidate and proxy-revalidate are obeyed; no-cache and s-maxage are not. The answer
# is 200 with "Warning: 111", which RFC 9111 has removed, and nobody reads.
# What follows: a crawler that would stop at 503 goes on by rules of unknown age; an owner who closes a
# site by 503 does not close it.
# Output:
#   max-age=1: 200, the origin was asked: 1
#   no-cache: 200, the origin was asked: 1
#   s-maxage=1: 200, the origin was asked: 1
#   max-age=1, must-revalidate: 503, the origin was asked: 1
#   max-age=1, proxy-revalidate: 503, the origin was asked: 1
source "$(dirname "$0")/common.sh"

debian 'apache2-bin=2.4.71-1~deb12u*'
"$python" - <<'PY' | confirm
import time

from caches import Origin, apache, get, running

KINDS = ("max-age=1", "no-cache", "s-maxage=1", "max-age=1, must-revalidate", "max-age=1, proxy-revalidate")
origin = Origin()
with running(apache, origin) as port:
    for number, control in enumerate(KINDS):
        rules = b"User-agent: *\nDisallow: /private/\n"
        origin.answer(200, rules, ("Cache-Control", control), ("ETag", '"1"'))
        get(port, f"/{number}/robots.txt")
        time.sleep(2.5)
        origin.answer(503, b"down")
        status = get(port, f"/{number}/robots.txt")[0]
        print(f"{control}: {status}, the origin was asked: {origin.requests}")
PY
