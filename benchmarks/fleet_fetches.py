"""The robots.txt fetches of a fleet that visits the same origins, counted at the server.

    python benchmarks/fleet_fetches.py [--origins 10000] [--workers 8] [--trouble none,kill]

Each worker is a crawl of its own, which requests an allowed and a disallowed page of each origin in
an order of its own. All share one Redis. ``--trouble`` lists what happens once a third of the
origins has been fetched, each in a run of its own: ``kill`` (kill -9 of one worker), ``restart``
(Redis is killed and starts empty three seconds later). ``wrong`` counts requests that did not end
as their robots.txt says, in workers that were not killed, and disallowed pages that were requested.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.crawl import Result, Running  # noqa: E402
from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed  # noqa: E402
from tests.support.responses import reply  # noqa: E402
from tests.support.server import Server  # noqa: E402

TROUBLES = ("none", "kill", "restart")
PATHS = ("/yes", "/no")
CLOSE = [("Connection", "close")]  # a crawl that kept a connection to each origin would run out
#: Seconds without Redis, and after which a worker that has not ended counts as hanging.
GONE, LIMIT = 3.0, 3600.0


def wrong_ends(result: Result, urls: list[str]) -> int:
    """Requests that did not end once, as they should."""
    refused, ends = set(result.errors), result.ends
    return sum(ends[url] != 1 or (url in refused) is not url.endswith("/no") for url in urls)


def measure(origins: int, workers: int, trouble: str, redis: RedisServer) -> str:
    """A line of the table."""
    began = time.monotonic()
    with Server() as server, ExitStack() as stack:
        robots = reply("User-agent: *\nDisallow: /no\n", headers=CLOSE)
        page = reply("page", headers=CLOSE)
        hosts = (f"127.{1 + n // 60_000}.{n // 250 % 240}.{1 + n % 250}" for n in range(origins))
        sites = [server.site(host, robots, page=page) for host in hosts]
        urls = [site.url(path) for site in sites for path in PATHS]
        crawls = [
            stack.enter_context(
                Running(random.Random(n).sample(urls, len(urls)), {"ROBOTSPEC_CACHE": redis.uri})
            )
            for n in range(workers)
        ]
        while sum(bool(site.robots_asked) for site in sites) < origins / 3:
            time.sleep(0.5)
        if trouble == "kill":
            crawls.pop().send(signal.SIGKILL)
        elif trouble == "restart":
            redis.stop()
            time.sleep(GONE)
            redis.start()
        wrong = sum(wrong_ends(crawl.finish(LIMIT), urls) for crawl in crawls)
        wrong += sum(path == "/no" for site in sites for path in site.pages_asked)
        fetches = [len(site.robots_asked) for site in sites]
    again = sum(number > 1 for number in fetches)
    seconds = time.monotonic() - began
    return f"{trouble:10} {sum(fetches):9,} {again:14,} {max(fetches):10} {wrong:7} {seconds:9.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--trouble", type=lambda text: text.split(","), default=["none", "kill"])
    given = parser.parse_args()
    if not set(given.trouble) <= set(TROUBLES):
        parser.error(f"--trouble takes {', '.join(TROUBLES)}")
    if not is_installed():
        sys.exit(NOT_FOUND)
    print("trouble      fetches  origins again       most   wrong   seconds")
    for trouble in given.trouble:
        with tempfile.TemporaryDirectory() as folder:
            redis = RedisServer(Path(folder))
            redis.start()
            try:
                print(measure(given.origins, given.workers, trouble, redis), flush=True)
            finally:
                redis.stop()


if __name__ == "__main__":
    main()
