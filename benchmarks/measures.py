"""What is measured, each measure a function that returns plain numbers.

Times are processor time of this thread, so that other work on the machine counts less. Sides take
turns within each round, and what counts is the ratio of a round: its median, with the least and the
greatest beside it.
"""

from __future__ import annotations

import gc
import random
import statistics
import string
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

from benchmarks.corpus import SITE, urls_for
from benchmarks.hostile import RECIPES, cost, hostile_files
from benchmarks.peers import CRAWLERS, OURS, READ_AGAIN, TOKEN
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.peers import Read

    Result = dict[str, Any]

_LIMIT = 512_000
#: Questions before a verdict counts as one of many: the first few may have to compile.
_WARM = 8
#: URLs that a side is asked about which reads the file again for each.
_FEW = 4
_MICRO = 1e6


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "greatest": round(max(values), 3),
    }


def _ask_all(read: Read, body: bytes, urls: Sequence[str]) -> None:
    ask = read(body)
    for url in urls:
        ask(url, TOKEN)


def parse(files: Sequence[bytes], peers: Mapping[str, Read], rounds: int) -> Result:
    """Reading a file and the first verdict, summed over the files.

    Each side reads all files in turn; then, as one more ratio, the sides change places after every
    file, so that none finds its code in the processor's caches.
    """
    numbers = random.Random(3)
    questions = [(body, urls_for(body, 1, numbers)) for body in files]
    sums: dict[str, list[float]] = {name: [] for name in peers}
    turns: dict[str, list[float]] = {name: [] for name in peers}
    each: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, read in peers.items():
            times = [seconds(lambda: _ask_all(read, *question)) for question in questions]  # noqa: B023
            sums[name].append(sum(times))
            each[name].append(statistics.median(times) * _MICRO)
        spent = dict.fromkeys(peers, 0.0)
        for question in questions:
            for name, read in peers.items():
                spent[name] += seconds(lambda: _ask_all(read, *question))  # noqa: B023
        for name, time_spent in spent.items():
            turns[name].append(time_spent)
    return {
        name: {
            "µs a file, median": round(statistics.median(each[name]), 2),
            "µs a file, mean": round(min(sums[name]) / len(files) * _MICRO, 2),
            "times as long as ours": spread(_ratios(sums, name)),
            "the same, file by file": spread(_ratios(turns, name)),
        }
        for name in peers
    }


def by_verdicts(
    files: Sequence[bytes], peers: Mapping[str, Read], rounds: int, counts: Sequence[int]
) -> Result:
    """Reading a file and some verdicts about distinct URLs, summed over the files."""
    numbers = random.Random(9)
    questions = [(body, _distinct_urls(body, max(counts), numbers)) for body in files]
    results: Result = {name: {} for name in peers}
    for count in counts:
        sums: dict[str, list[float]] = {name: [] for name in peers}
        for _ in range(rounds if count <= 200 else 1):
            for name, read in peers.items():
                work = [(body, urls[:count]) for body, urls in questions]
                times = [seconds(lambda: _ask_all(read, *question)) for question in work]  # noqa: B023
                sums[name].append(sum(times))
        for name in peers:
            results[name][str(count)] = round(min(sums[name]) / len(files) * _MICRO, 1)
            results.setdefault(f"{name}, times as long as ours", {})[str(count)] = spread(
                _ratios(sums, name)
            )["median"]
    return results


def _distinct_urls(body: bytes, number: int, numbers: random.Random) -> list[str]:
    """Different URLs; a query tells those apart that would be equal."""
    found = dict.fromkeys(urls_for(body, number, numbers))
    others = (f"{url}?{at}" for at, url in enumerate(urls_for(body, number, numbers)))
    return [*found, *others][:number]


def _ratios(sums: Mapping[str, Sequence[float]], name: str) -> list[float]:
    return [theirs / ours for theirs, ours in zip(sums[name], sums[OURS], strict=True)]


def verdicts(files: Sequence[bytes], peers: Mapping[str, Read], rounds: int, urls: int) -> Result:
    """Steady verdicts: a file is read once and asked about many URLs; means over the files."""
    numbers = random.Random(4)
    sides = []
    for body in files:
        asks = {name: read(body) for name, read in peers.items()}
        some = urls_for(body, urls, numbers)
        for ask in asks.values():
            for url in some[:_WARM]:
                ask(url, TOKEN)
        sides.append((asks, some))
    sums: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        each: dict[str, list[float]] = {name: [] for name in peers}
        for asks, some in sides:
            for name, ask in asks.items():
                asked = some[:_FEW] if name in READ_AGAIN else some
                each[name].append(seconds(lambda: [ask(url, TOKEN) for url in asked]) / len(asked))  # noqa: B023
        for name, times in each.items():
            sums[name].append(statistics.mean(times))
    return {
        name: {
            "µs a verdict, mean": round(min(sums[name]) * _MICRO, 3),
            "µs a verdict, median file": round(statistics.median(each[name]) * _MICRO, 3),
            "times as long as ours": spread(_ratios(sums, name)),
        }
        for name in peers
    }


def growth(peers: Mapping[str, Read], rounds: int, most: int) -> Result:
    """Time of a verdict as rules grow: prefixes whose last is hit, wildcards that miss."""
    results: Result = {}
    for kind, sizes in (
        ("prefix", (10, 100, 1_000, 18_000)),
        ("wildcard", (10, 100, 1_000, 5_000)),
    ):
        rule = "/d{0}/p{0}" if kind == "prefix" else "/*foo_{0}=*bar"
        rows: dict[str, dict[str, float]] = {name: {} for name in peers}
        for size in (size for size in sizes if size <= most):
            lines = (f"Disallow: {rule.format(number)}\n" for number in range(size))
            body = ("User-agent: *\n" + "".join(lines)).encode()
            hit = rule.format(size - 1) + "/x" if kind == "prefix" else "/a/b.html?foo=1&bar=2"
            urls = [f"{SITE}{hit}{number}" for number in range(50)]
            for name, read in peers.items():
                ask = read(body[:_LIMIT])
                for url in urls[:_WARM]:
                    ask(url, TOKEN)
                times = [seconds(lambda: [ask(url, TOKEN) for url in urls]) for _ in range(rounds)]  # noqa: B023
                rows[name][str(size)] = round(min(times) / len(urls) * _MICRO, 3)
        results[kind] = rows
    return results


def hostile(size: int) -> Result:
    """Milliseconds for reading such a file and explaining eight verdicts about URLs of 2 KB."""
    numbers = random.Random(5)
    noise = "".join(numbers.choices("ab", k=2_000))
    parts = ["a" * 2_000, noise, "aaa/" * 500, "%41" * 660, "é" * 1_000, "?&=._-" * 330]
    urls = [f"{SITE}/{part}" for part in [*parts, ".aaa" * 500, "*$ " * 660]]

    def ask(body: bytes, edition: str) -> None:
        robots = RobotsTxt.parse(body, edition)
        for url in urls:
            robots.explain(url, "a-foo")

    return {
        name: {
            edition: round(min(seconds(lambda: ask(body, edition)) for _ in range(2)) * 1e3, 1)  # noqa: B023
            for edition in EDITIONS
        }
        for name, body in hostile_files(size).items()
    }


def hostile_urls(size: int, lengths: Sequence[int]) -> Result:
    """The same for files and URLs that are made for each other, by the length of the URL."""
    return {
        f"{name}, {edition}": {
            str(length): round(min(cost(recipe, length, edition, size) for _ in range(2)) * 1e3, 1)
            for length in lengths
        }
        for name, recipe in RECIPES.items()
        for edition in ("google-2019",)
    }


def names(
    files: Sequence[bytes],
    peers: Mapping[str, Read],
    rounds: int,
    number: int,
    *,
    same_url: bool = True,
) -> Result:
    """A file read once and asked for many crawlers in turn: sums over the files.

    All are asked about the root, or each about another URL.
    """
    numbers = random.Random(8)
    asked = [TOKEN, *CRAWLERS]
    while len(asked) < number:
        asked.append("".join(numbers.choices(string.ascii_letters, k=8)) + "bot")
    root = [SITE + "/"] * number
    work = [
        (
            body,
            list(zip(root if same_url else urls_for(body, number, numbers), asked, strict=False)),
        )
        for body in files
    ]
    sums: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, read in peers.items():
            sums[name].append(
                sum(seconds(lambda: _ask_for_all(read, *questions)) for questions in work)  # noqa: B023
            )
    return {
        name: {
            "µs a file, mean": round(min(times) / len(files) * _MICRO, 1),
            "times as long as ours": spread(_ratios(sums, name)),
        }
        for name, times in sums.items()
    }


def _ask_for_all(read: Read, body: bytes, questions: Sequence[tuple[str, str]]) -> None:
    ask = read(body)
    for url, token in questions:
        ask(url, token)


def in_turn(size: int, rounds: int) -> Result:
    """Steady verdicts of a large file: for one crawler, and for nine with rules of their own."""
    crawlers = CRAWLERS[:9]
    groups = (
        f"User-agent: {name}\n"
        + "".join(f"Disallow: /d{number}/*/p{number}{name}\n" for number in range(size // 9 // 35))
        for name in crawlers
    )
    body = "".join(groups).encode()
    urls = [f"{SITE}/d{number}/x/p{number}" for number in range(90)]
    asked = {
        "one crawler": list(zip(urls, crawlers[:1] * len(urls), strict=True)),
        "nine in turn": list(zip(urls, crawlers * 10, strict=True)),
    }
    results: Result = {}
    for edition in EDITIONS:
        allowed = RobotsTxt.parse(body, edition).allowed
        results[edition] = {}
        for name, questions in asked.items():
            times = [
                seconds(lambda: [allowed(*question) for question in questions])  # noqa: B023
                for _ in range(rounds + _WARM)
            ]
            results[edition][name] = round(min(times) / len(questions) * _MICRO, 2)
    return results


def memory(files: Sequence[bytes], asked: Sequence[int] = (1, 3, 20)) -> Result:
    """Bytes kept by a parsed file for each byte of the files, after some verdicts each."""
    numbers = random.Random(6)
    questions = [(body, urls_for(body, max(asked), numbers)) for body in files]
    results: Result = {}
    for number in asked:
        gc.collect()
        tracemalloc.start()
        kept = []
        for body, urls in questions:
            robots = RobotsTxt.parse(bytes(bytearray(body)))  # a copy, so that it is counted
            for url in urls[:number]:
                robots.allowed(url, TOKEN)
            kept.append(robots)
        gc.collect()
        beyond = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        results[f"after {number} verdicts" if number > 1 else "after 1 verdict"] = round(
            beyond / sum(len(robots.body) for robots in kept), 3
        )
    return results
