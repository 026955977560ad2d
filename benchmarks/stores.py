"""What the stores cost: bytes an origin, and microseconds a call.

    python benchmarks/stores.py [URI…] [--origins N] [--folder ROBOTS] [--json OUT]

Without URIs: memory, a new SQLite file, and Redis where a server program is found. Without a folder
of real files the bodies are made up, with the sizes that real ones have (median 670 bytes, mean 3
to 6 KB, a few of some 100 KB). One origin in four has no file. Nothing here decides anything.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scrapy_robotspec.access.origin import Origin  # noqa: E402
from scrapy_robotspec.access.outcome import FetchResult  # noqa: E402
from scrapy_robotspec.access.policy import AccessPolicy  # noqa: E402
from scrapy_robotspec.editions import get_edition  # noqa: E402
from scrapy_robotspec.store.memory import MemoryStore  # noqa: E402
from scrapy_robotspec.store.uri import open_store  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.record import RobotsRecord

NOW = 1_800_000_000.0
WORDS = ("shop", "cart", "admin", "search", "user", "api", "private", "static", "tag", "feed")


def bodies(folder: Path | None, chance: random.Random) -> list[bytes]:
    """Five hundred files, real ones if there is a folder of them."""
    if folder is not None:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        return [path.read_bytes()[:512_000] for path in chance.sample(files, min(500, len(files)))]
    return [_made_up(int(chance.lognormvariate(6.5, 1.6)), chance) for _ in range(500)]


def _made_up(size: int, chance: random.Random) -> bytes:
    lines = ["User-agent: *"]
    length = 0
    while length < min(size, 512_000):
        path = "/".join(chance.choice(WORDS) for _ in range(chance.randint(1, 4)))
        lines.append(f"Disallow: /{path}/{chance.randint(0, 999)}")
        length += len(lines[-1]) + 1
    return "\n".join(lines).encode()


def records(count: int, files: list[bytes], chance: random.Random) -> Iterator[RobotsRecord]:
    policy = AccessPolicy(edition=get_edition("google-2019"))
    for number in range(count):
        origin = Origin("https", f"www.some-host-{number}.example", 443)
        found = chance.random() >= 0.25
        headers = {"content-type": "text/plain"}
        body = chance.choice(files) if found else b""
        attempt = FetchResult(status=200 if found else 404, body=body, headers=headers)
        yield policy.apply(None, origin, attempt, NOW + number, 0)


def resident() -> float:
    """Bytes of memory this process holds now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def timed(calls: Iterator[float]) -> dict[str, float]:
    times = sorted(calls)
    return {
        "median_us": round(statistics.median(times) * 1e6, 1),
        "p99_us": round(times[int(len(times) * 0.99)] * 1e6, 1),
    }


def measure(uri: str, count: int, files: list[bytes]) -> dict[str, Any]:
    """Write *count* records, read a thousand of them at random, lease a thousand."""
    chance = random.Random(5)
    before = resident()
    store = open_store(uri)

    def writes() -> Iterator[float]:
        for record in records(count, files, random.Random(7)):
            begin = time.perf_counter()
            if isinstance(store, MemoryStore):
                store.put(record)
            else:
                store.put(record, "benchmark", None)
            yield time.perf_counter() - begin

    def some() -> Iterator[Origin]:
        for _ in range(1000):
            number = chance.randrange(count)
            yield Origin("https", f"www.some-host-{number}.example", 443)

    def reads() -> Iterator[float]:
        for origin in some():
            begin = time.perf_counter()
            found = store.get(origin)
            yield time.perf_counter() - begin
            if found is None and not uri.startswith("memory:"):
                raise SystemExit(f"{uri}: {origin} is lost")

    def leases() -> Iterator[float]:
        for origin in some():
            begin = time.perf_counter()
            if not isinstance(store, MemoryStore):
                store.claim(origin, "benchmark", NOW, 30, NOW)
                store.release(origin, "benchmark")
            yield time.perf_counter() - begin

    result: dict[str, Any] = {"store": uri.partition(":")[0], "origins": count}
    result["put"] = timed(writes())
    result["get"] = timed(reads())
    result["claim and release"] = timed(leases())
    result["process_bytes_an_origin"] = round((resident() - before) / count)
    if uri.startswith("redis:"):
        result["server_bytes_an_origin"] = redis_bytes(uri, count)
    store.close()
    if uri.startswith("sqlite:"):
        size = Path(uri.removeprefix("sqlite:///")).stat().st_size
        result["file_bytes_an_origin"] = round(size / count)
    return result


def redis_bytes(uri: str, count: int) -> float:
    """Memory of the server for each record, with that of its tables of keys."""
    import redis

    client = redis.Redis.from_url(uri)
    memory = client.info("memory")
    client.close()
    used: int = memory["used_memory"] - memory["used_memory_startup"]
    return round(used / count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uris", nargs="*", metavar="URI")
    parser.add_argument("--origins", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    files = bodies(asked.folder, random.Random(3))
    print(f"bodies: median {statistics.median(map(len, files)):.0f}, ", end="")
    print(f"mean {statistics.mean(map(len, files)):.0f} bytes", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        uris = asked.uris or ["memory://", f"sqlite:///{directory}/robots.db"]
        results = [_report(measure(uri, asked.origins, files)) for uri in uris]
        if not asked.uris:
            results += _with_redis(Path(directory), asked.origins, files)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))


def _with_redis(directory: Path, count: int, files: list[bytes]) -> list[dict[str, Any]]:
    from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed

    if not is_installed():
        print(f"redis: {NOT_FOUND}")
        return []
    server = RedisServer(directory)
    server.start()
    try:
        return [_report(measure(server.uri, count, files))]
    finally:
        server.stop()


def _report(result: dict[str, Any]) -> dict[str, Any]:
    for name, value in result.items():
        print(f"  {name}: {value}", flush=True)
    print()
    return result


if __name__ == "__main__":
    main()
