#!/usr/bin/env bash
# A timer of uvloop ends before its time, so a crawl delay made with it is too short.
#
# Version: uvloop 0.23.0 (PyPI), against the loop of Python's asyncio.
# Source: asyncio's documentation of call_later: the callback is called "after the given delay".
# Expected: a timer may be late, and is never early by more than the resolution of the clock (1 ns).
# Behaviour: libuv's clock has whole milliseconds. A timer starts at the last full one and its delay is
# rounded to the nearest, so that a timer of 10.4 ms is due up to 1.4 ms too early.
# What follows: requests "not closer than the delay" arrive closer, where a wait is a single sleep.
# Output:
#   asyncio: timers early by 0.1 ms or more: none of 300
#   uvloop: timers early by 0.1 ms or more: some of 300
source "$(dirname "$0")/common.sh"

pypi uvloop==0.23.0
"$python" - <<'PY' | confirm
import asyncio
import time

import uvloop

DELAY, TIMERS = 0.0104, 300


async def early():
    """How many timers end too early."""
    loop, count = asyncio.get_running_loop(), 0
    for _ in range(TIMERS):
        ended = loop.create_future()
        start = time.monotonic()
        loop.call_later(DELAY, lambda ended=ended: ended.set_result(time.monotonic()))
        count += await ended - start < DELAY - 0.0001
    return count


for name, make in (("asyncio", asyncio.new_event_loop), ("uvloop", uvloop.new_event_loop)):
    loop = make()
    words = "some" if loop.run_until_complete(early()) else "none"
    loop.close()
    print(f"{name}: timers early by 0.1 ms or more: {words} of {TIMERS}")
PY
