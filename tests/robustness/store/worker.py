"""One of several processes on one store.

    python -m tests.robustness.store.worker URI JOB NUMBER


Prints "ready", waits for a line, does its job and prints the outcome as one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time

from scrapy_robotspec.store.base import HORIZON, RecordStore, SlotRequest
from tests.support.records import origin, record
from tests.support.stores import open_shared_store, put, take

NOW = 1_800_000_000.0
ORIGINS = 50
#: Between two slots, and of all who take them (seconds).
DELAY, SECONDS = 0.05, 2.0


def write_for_ever(store: RecordStore, number: int) -> None:
    """Write records until killed, telling each that is done."""
    while True:
        for n in range(1000):
            put(store, record(origin(n), at=NOW + n, body=body(n)))
            print(n, flush=True)


def body(number: int) -> bytes:
    """A body that tells its record's number and does not compress to nothing."""
    return b"".join(b"Disallow: /%d/%d\n" % (number, line * line) for line in range(300))


def take_leases(store: RecordStore, number: int) -> list[int]:
    """The origins whose lease this process got."""
    return [n for n in range(ORIGINS) if take(store, origin(n), f"worker {number}", NOW, 60)]


def take_slots(store: RecordStore, number: int) -> list[float]:
    """The slots that this process got in a while, by the clock of the store."""
    taken: list[float] = []
    position, end = 0.0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        reply = store.reserve(origin(0), SlotRequest(DELAY, position))
        if reply.granted:
            taken.append(reply.at)
        position = 0.0 if reply.granted else reply.at
        time.sleep(max(0.0, (reply.at if reply.granted else reply.at - HORIZON) - reply.now))
    return taken


def take_slots_for_ever(store: RecordStore, number: int) -> None:
    """Take slots until killed."""
    while True:
        take_slots(store, number)
        print("again", flush=True)


JOBS = {job.__name__: job for job in (write_for_ever, take_leases, take_slots, take_slots_for_ever)}

if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    opened = open_shared_store(sys.argv[1])
    print(json.dumps(JOBS[sys.argv[2]](opened, int(sys.argv[3]))), flush=True)
