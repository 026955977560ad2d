#!/usr/bin/env bash
# The token bucket of throttled-py counts whole seconds: a crawl delay of 2 s is 1.2 s.
#
# Version: throttled-py 3.5.0 (PyPI), store in memory.
# Source: a bucket of one token that is refilled once in 2 s gives no second token before that.
# Expected: "one in 2 s" keeps 2 s with a token bucket and a leaky bucket; a fixed window is known to
# let two through at its edge.
# Behaviour: both buckets store the time in whole seconds. A token taken at 9.8 s is dated 9, and the
# next is there at 11.0. Its GCRA keeps fractions of a second, and the delay.
# What follows: nothing is seen in a test that starts at a full second.
# Output:
#   token_bucket: second request after about 1.2 s
#   leaking_bucket: second request after about 1.2 s
#   gcra: second request after about 2.0 s
source "$(dirname "$0")/common.sh"

pypi throttled-py==3.5.0
"$python" - <<'PY' | confirm
import time
from datetime import timedelta

from throttled import Throttled, per_duration

for name in ("token_bucket", "leaking_bucket", "gcra"):
    quota = per_duration(timedelta(seconds=2), 1, burst=1)
    throttle = Throttled(key=name, using=name, quota=quota)
    time.sleep(1.8 - time.time() % 1)
    start = time.monotonic()
    assert not throttle.limit().limited
    while throttle.limit().limited:
        time.sleep(0.001)
    print(f"{name}: second request after about {time.monotonic() - start:.1f} s")
PY
