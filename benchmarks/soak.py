"""A long crawl of origins whose robots.txt answers change: does anything grow?

    python benchmarks/soak.py [--minutes 20] [--origins 2000] [--cache URI] [--out soak]

Two thousand loopback origins answer with rules, other rules, 503, redirects, resets or silence,
in turn. Every few seconds requests a second, memory and open files of the crawl are
written to OUT.json, at the end drawn in OUT.png if matplotlib is there. Needs Linux. The exit code
is 1 if a request was lost, a disallowed page was asked for, or something grew.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.crawl import Running
from tests.support.responses import after, redirect, reply, reset, silence
from tests.support.server import Server, Site

if TYPE_CHECKING:
    from tests.support.responses import Answer, Exchange

#: ``/no`` may never be requested, whatever the answer.
RULES = "User-agent: *\nDisallow: /no\n"
MORE_RULES = RULES + "".join(f"Disallow: /private/{n}/*.html$\n" for n in range(300))
ANSWERS: tuple[Answer, ...] = (
    reply(RULES),
    reply(MORE_RULES),
    reply("", 503),
    reply(RULES + "# other rules\nDisallow: /later\n"),
    redirect("/moved.txt"),
    reset(),
    after(0.3, reply(RULES)),
    reply(RULES),
    silence(),
    reply("", 500, [("Retry-After", "3")]),
)
#: Factor from the second quarter to the last one up to which nothing has grown.
MEMORY_GROWTH, FILES_GROWTH = 1.15, 1.3
#: Characters; errors only are logged.
LOG_KEPT = 20_000
#: Connections that may come and go between two samples.
FILES_SLACK = 100

SETTINGS = {
    "SPIDER_MODULES": ["benchmarks.soak_spider"],
    "LOG_LEVEL": "ERROR",
    "CONCURRENT_REQUESTS": 64,
    "ROBOTSPEC_CACHE_TTL": 20,
    "ROBOTSPEC_CACHE_MIN_TTL": 1,
    "ROBOTSPEC_FETCH_TIMEOUT": 3,
    "ROBOTSPEC_HOLD_TIMEOUT": 4,
    "ROBOTSPEC_RETRY_TIMES": 1,
    "ROBOTSPEC_RETRY_MAX_DELAY": 4,
    "MEMUSAGE_ENABLED": False,
}

Sample = dict[str, float]


def changing(number: int, period: float, began: float) -> Answer:
    """The next of ANSWERS every *period* seconds."""

    async def answer(exchange: Exchange) -> bool:
        turn = int((time.time() - began) / period)
        return await ANSWERS[(number + turn) % len(ANSWERS)](exchange)

    return answer


def sites_of(server: Server, origins: int, period: float) -> list[Site]:
    """One origin for each address from 127.1.0.1 on."""
    began = time.time()
    return [
        server.site(
            f"127.{1 + n // 60_000}.{n // 250 % 240}.{n % 250 + 1}",
            changing(n, period, began),
            pages={"/moved.txt": reply(RULES)},
        )
        for n in range(origins)
    ]


class Watch:
    """Takes samples of a running crawl and of what its server was asked."""

    def __init__(self, running: Running, server: Server, sites: list[Site]) -> None:
        self._process = Path(f"/proc/{running.pid}")
        self._server = server
        self._sites = sites
        self._began = self._last = time.monotonic()
        self.disallowed = 0
        self.samples: list[Sample] = []

    def look(self) -> Sample:
        """One more sample; the server's logs are emptied, so that it does not grow itself."""
        now, asked = time.monotonic(), self._empty_logs()
        sample = {
            "at": round(now - self._began, 1),
            "requests_a_second": round(asked / (now - self._last), 1),
            "memory": self._memory(),
            "open_files": len(list((self._process / "fd").iterdir())),
        }
        self._last = now
        self.samples.append(sample)
        return sample

    def _empty_logs(self) -> int:
        asked = len(self._server.log)
        self.disallowed += sum(each.path == "/no" for each in self._server.log[:asked])
        del self._server.log[:asked]
        for site in self._sites:
            site.log.clear()
            site.firsts.clear()
        return asked

    def _memory(self) -> int:
        pages = int((self._process / "statm").read_text().split()[1])
        return pages * 4096


def grown(samples: list[Sample]) -> list[str]:
    """What is greater in the last quarter than it was in the second one."""
    quarter = len(samples) // 4
    if not quarter:
        return []
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    found = []
    for name, factor, slack in (
        ("memory", MEMORY_GROWTH, 0),
        ("open_files", FILES_GROWTH, FILES_SLACK),
    ):
        before, after_ = (sum(each[name] for each in part) / quarter for part in (early, late))
        if after_ > before * factor + slack:
            found.append(f"{name}: {before:.0f} -> {after_:.0f}")
    return found


def soak(options: argparse.Namespace) -> dict[str, Any]:
    """Run it; what came of it."""
    seconds = options.minutes * 60
    with Server() as server:
        sites = sites_of(server, options.origins, options.period)
        job = {
            "origins": [site.url("") for site in sites],
            "seconds": seconds,
            "seed": options.seed,
            "at_once": options.at_once,
        }
        settings = {**SETTINGS, "ROBOTSPEC_CACHE": options.cache}
        with Running([], settings, spider="soak", more=job, mode=options.mode) as running:
            watch = Watch(running, server, sites)
            while watch.samples[-1:] == [] or watch.samples[-1]["at"] < seconds:
                time.sleep(min(options.every, seconds / 8))
                sample = watch.look()
                if not options.quiet:
                    print(json.dumps(sample), flush=True)
            result = running.finish(120)
            watch._empty_logs()
    (soaked,) = result.of("soaked")
    return {
        "options": vars(options),
        "sent": soaked["sent"],
        "ended": soaked["ended"],
        "disallowed": watch.disallowed,
        "errors_logged": result.log.count("Traceback"),
        "log": result.log[:LOG_KEPT],
        "exit_code": result.exit_code,
        "grown": grown(watch.samples),
        "samples": watch.samples,
    }


def draw(found: dict[str, Any], path: Path) -> bool:
    """Three curves over time; whether matplotlib was there to draw them."""
    if find_spec("matplotlib") is None:
        return False
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(3, sharex=True, figsize=(8, 8))
    at = [sample["at"] / 60 for sample in found["samples"]]
    for axis, name, unit in zip(
        axes, ("requests_a_second", "memory", "open_files"), (1, 2**20, 1), strict=True
    ):
        axis.plot(at, [sample[name] / unit for sample in found["samples"]])
        axis.set_ylabel("memory (MiB)" if name == "memory" else name.replace("_", " "))
        axis.set_ylim(bottom=0)
    axes[-1].set_xlabel("minutes")
    figure.savefig(path)
    return True


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--origins", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=400, help="requests that are not over")
    parser.add_argument("--period", type=float, default=15, help="seconds of each answer")
    parser.add_argument("--every", type=float, default=5, help="seconds from sample to sample")
    parser.add_argument("--cache", default="memory://")
    parser.add_argument("--mode", default="asyncio", help="asyncio, select or none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("soak"))
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args(arguments)
    found = soak(options)
    options.out.with_suffix(".json").write_text(json.dumps(found, indent=1, default=str))
    if not draw(found, options.out.with_suffix(".png")):
        print("no plot: matplotlib is not installed", file=sys.stderr)
    print(
        json.dumps(
            {name: found[name] for name in found if name not in ("samples", "log")}, default=str
        )
    )
    lost = found["sent"] != found["ended"] or found["exit_code"]
    return 1 if lost or found["disallowed"] or found["grown"] or found["errors_logged"] else 0


if __name__ == "__main__":
    sys.exit(main())
