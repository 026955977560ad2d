"""Fetches that a bounded store causes when a crawl visits its origins in turn.

    python benchmarks/eviction.py [--max N]

Compares what a store may evict when it is full: the least recently used record, the first one that
was not used since the hand passed it (CLOCK), any one at random, and any one into a temporary file.
The last two are this package's ``memory://?disk=0`` and ``memory://``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scrapy_robotspec.access.origin import Origin  # noqa: E402
from scrapy_robotspec.access.outcome import Meaning  # noqa: E402
from scrapy_robotspec.access.record import RobotsRecord  # noqa: E402
from scrapy_robotspec.store.memory import MemoryStore  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = 1_800_000_000.0
ROUNDS = 3
BODY = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % n for n in range(50))


class Store(Protocol):
    """The part of a store that a crawl in one process needs."""

    def get(self, origin: Origin) -> RobotsRecord | None: ...
    def put(self, record: RobotsRecord) -> None: ...


class LeastRecentlyUsed:
    """Evicts the record that was not used for the longest time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._records: OrderedDict[str, RobotsRecord] = OrderedDict()

    def get(self, origin: Origin) -> RobotsRecord | None:
        if origin in self._records:
            self._records.move_to_end(origin)
        return self._records.get(origin)

    def put(self, record: RobotsRecord) -> None:
        self._records[record.origin] = record
        if len(self._records) > self._most:
            self._records.popitem(last=False)


class Clock:
    """Evicts the first record that was not used since the hand passed it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used: OrderedDict[str, list[object]] = OrderedDict()  # [record, used]

    def get(self, origin: Origin) -> RobotsRecord | None:
        entry = self._used.get(origin)
        if entry is None:
            return None
        entry[1] = True
        record: RobotsRecord = entry[0]  # type: ignore[assignment]
        return record

    def put(self, record: RobotsRecord) -> None:
        while len(self._used) >= self._most:
            origin, entry = next(iter(self._used.items()))
            if not entry[1]:
                del self._used[origin]
                break
            entry[1] = False
            self._used.move_to_end(origin)
        self._used[record.origin] = [record, False]


STORES: dict[str, Callable[[int], Store]] = {
    "least recently used": LeastRecentlyUsed,
    "CLOCK": Clock,
    "random": MemoryStore,
    "random, into a temporary file": lambda most: MemoryStore(most, 20 * most),
}


def last_round(store: Store, origins: list[Origin]) -> tuple[int, float]:
    """Fetches in the last of the rounds, and the time of its accesses (seconds)."""
    for _ in range(ROUNDS):
        fetched, began = 0, time.perf_counter()
        for origin in origins:
            if store.get(origin) is None:
                fetched += 1
                store.put(
                    RobotsRecord(
                        origin,
                        meaning=Meaning.RULES,
                        status=200,
                        body=BODY,
                        fetched_at=NOW,
                        expires_at=NOW + 86_400,
                    )
                )
    return fetched, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max", type=int, default=10_000, help="origins that the store keeps")
    most = parser.parse_args().max
    sizes = [most + 1, most * 101 // 100, most * 11 // 10, most * 2]
    print("| evicted | " + " | ".join(f"{size:,} origins" for size in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    for name, make in STORES.items():
        cells = []
        for size in sizes:
            origins = [Origin("https", f"www.host-{n}.example", 443) for n in range(size)]
            fetched, seconds = last_round(make(most), origins)
            cells.append(f"{fetched:,} ({seconds / size * 1e6:.0f} µs)")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
