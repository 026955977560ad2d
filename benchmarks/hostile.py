"""Files made to cost as much as can be, and a search for worse ones.

    python benchmarks/hostile.py [--seconds 60] [--url 2000] [--seed 1] [--edition google]

The search climbs: it changes the recipe of a file and of its URLs a little, and keeps what costs
more. Prints each step up, then the recipe that costs most.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # where run from a clone

from benchmarks.corpus import SITE
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 512_000
_VERDICTS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def filled(line: str, size: int) -> bytes:
    """A file of *size* bytes: one group of numbered lines."""
    lines = [b"User-agent: *\n"]
    length = number = 0
    while length < size:
        lines.append(line.format(f"{number:x}").encode("latin-1"))
        length += len(lines[-1])
        number += 1
    return b"".join(lines)[:size]


def hostile_files(size: int) -> dict[str, bytes]:
    """The known families, each a file of *size* bytes."""
    agents = b"".join(b"User-agent: a%d\n" % number for number in range(size // 40))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(size // 40))
    files = {
        "agents times rules": agents + rules,
        "empty lines": b"\n" * size,
        "user-agent fields on one line": b"user-agent:" * (size // 10),
        "distinct fields": filled("{}:\n", size),
        "groups of one rule": filled("user-agent:*\nallow:/{}\n", size),
        "prefixes": filled("allow:/{}\n", size),
        "escapes": filled("allow:/%41%e9{}\n", size),
        "/(*a)x50 *c": filled("Disallow: /{}" + "*a" * 50 + "*c\n", size),
        "needles nearly there": filled("Disallow: /*" + "a" * 24 + "b{}" + "a" * 24 + "\n", size),
        "short needles": filled("allow:*{}$\n", size),
        "needles behind delimiters": filled("allow:/*.aaa{}\n", size),
        "heads and needles": filled("allow:/a{}*b\n", size),
        "nested": b"user-agent:*\n"
        + b"".join(b"allow:/*" + b"a" * n + b"\n" for n in range(int((2 * size) ** 0.5)))[:size],
        "stars in sequence": filled("allow:/" + "*" * 480 + "{}x\n", size),
        "one line of stars": b"User-agent: *\nDisallow: /" + b"*a" * (size // 2),
        "one line of no UTF-8": b"User-agent: *\nDisallow: /" + b"\xff" * size,
    }
    return {name: body[:size] for name, body in files.items()}


@dataclass(frozen=True)
class Recipe:
    """How the rules of a file and the URLs asked about are made."""

    literals: int = 10
    """Literals of a pattern."""
    length: int = 1
    """Characters of a literal."""
    letters: int = 2
    """Size of the alphabet."""
    spread: int = 0
    """Max additional characters of a literal."""
    head: str = ""
    tail: str = "*X"
    url_head: str = "X"
    """The path's beginning."""
    period: int = 0
    """Length of the part that the path repeats (characters); 0: it does not repeat."""
    gap: int = 0
    """Tenths of the path, in its middle, without any of these letters."""
    parts: bool = False
    """The literals are parts of the path."""
    ordered: bool = False
    """These parts are in the order of the path."""
    numbered: bool = False
    """A number ends each pattern."""

    def path(self, length: int) -> str:
        """A path of *length* characters."""
        numbers = random.Random(2)
        period = self.period or max(1, length * (10 - self.gap) // 20)
        part = "".join(numbers.choices(_LETTERS[: self.letters], k=period))
        half = part * (length // len(part) + 1)
        edge = length * (10 - self.gap) // 20
        path = self.head + self.url_head + half[:edge] + "-" * (length - 2 * edge) + half[:edge]
        return path[:length]

    def urls(self, length: int) -> list[str]:
        """URLs with paths of *length* characters."""
        return [f"{SITE}/{self.path(length)}{number}" for number in range(_VERDICTS)]

    def body(self, size: int, url_length: int = 2_000) -> bytes:
        """A file of at most *size* bytes with distinct rules."""
        numbers = random.Random(1)
        path = self.path(url_length)
        lines: dict[str, None] = {}
        length = 14
        for number in range(size // 10):
            literals = "*".join(self._literals(path, numbers))
            tail = f"*{number:x}" if self.numbered else ""
            line = f"allow:/{self.head}*{literals}{tail}{self.tail}\n"
            if line not in lines:
                lines[line] = None
                length += len(line)
            if length > size:
                break
        return ("User-agent: *\n" + "".join(lines)).encode()[:size]

    def _literals(self, path: str, numbers: random.Random) -> Iterator[str]:
        last = max(1, len(path) - self.length - self.spread)
        begins = [numbers.randrange(last) for _ in range(self.literals)]
        end = 0
        for begin in sorted(begins) if self.ordered else begins:
            length = self.length + numbers.randint(0, self.spread)
            if self.parts:
                begin = max(begin, end) if self.ordered else begin
                end = begin + length
                yield path[begin:end]
            else:
                yield "".join(numbers.choices(_LETTERS[: self.letters], k=length))

    def changed(self, numbers: random.Random) -> Recipe:
        """A recipe like this one but for one value."""
        changes: dict[str, object] = {
            "literals": max(1, self.literals + numbers.choice((-10, -2, -1, 1, 2, 10))),
            "length": max(1, self.length + numbers.choice((-20, -2, -1, 1, 2, 20))),
            "letters": min(26, max(1, self.letters + numbers.choice((-2, -1, 1, 2)))),
            "spread": max(0, self.spread + numbers.choice((-3, -1, 1, 3))),
            "head": numbers.choice(("", "a", "shop/")),
            "tail": numbers.choice(("", "$", "*X", "*X$", "*a$", "*X*b", "*X*b*b")),
            "url_head": numbers.choice(("", "X", "XaX")),
            "period": numbers.choice((0, 1, 2, 7, 48, 97, 300)),
            "gap": numbers.choice((0, 2, 5, 8)),
            "parts": not self.parts,
            "ordered": not self.ordered,
            "numbered": not self.numbered,
        }
        name = numbers.choice(list(changes))
        return replace(self, **{name: changes[name]})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Lures(Recipe):
    """Literals that the path has at both ends only, and nearly has everywhere between."""

    def path(self, length: int) -> str:
        """A path of *length* characters."""
        run = "a" * self.length
        end = run + "".join(letter + run for letter in _LETTERS[1 : self.letters])
        return ((end + "XZ" + "a" * length)[: max(0, length - len(end))] + end)[-length:]

    def body(self, size: int, url_length: int = 2_000) -> bytes:
        """A file of at most *size* bytes with distinct rules."""
        rules = [
            f"allow:/*X*{'a' * before}{letter}{'a' * (length - before)}*Z\n"
            for length in range(self.length, 1, -1)
            for letter in _LETTERS[1 : self.letters]
            for before in range(length)
        ]
        return ("User-agent: *\n" + "".join(rules)).encode()[:size]


@dataclass(frozen=True)
class Runs(Recipe):
    """Literals of equal letters; the path has runs of them, of many lengths."""

    def path(self, length: int) -> str:
        """A path of *length* characters."""
        numbers = random.Random(2)
        path = "b"
        while len(path) < length - 20:
            path += "a" * numbers.randint(1, 700) + "b"
        return path[: length - 20] + "b" * 20

    def body(self, size: int, url_length: int = 2_000) -> bytes:
        """A file of at most *size* bytes with distinct rules."""
        rules = [
            f"allow:/*b*{'a' * length}*b*{'b' * number}\n"
            for number in range(1, 12)
            for length in range(1, self.length)
        ]
        return ("User-agent: *\n" + "".join(rules)).encode()[:size]


#: Known families whose cost depends on the URLs.
RECIPES = {
    "chains of one letter": Recipe(literals=20, letters=26),
    "chains of two letters": Recipe(literals=8, length=2, letters=4),
    "literals before the place they are needed at": Recipe(
        literals=2, length=5, letters=26, parts=True
    ),
    "literals behind a gap": Recipe(literals=3, length=4, letters=26, gap=5, parts=True),
    "literals that a gap resembles": Lures(length=31, letters=26),
    "one needle, numbered ends": Recipe(
        literals=1, length=7, period=1, letters=1, numbered=True, tail=""
    ),
    "ends of a path": Recipe(literals=2, length=3, letters=26, parts=True, tail="$"),
    "literals before an end that is missing": Recipe(
        literals=2, length=3, letters=26, parts=True, tail="*X$"
    ),
    "short needles": Recipe(length=3, letters=26, literals=1, spread=1, tail=""),
    "needles of 97 letters": Recipe(length=97, literals=1, period=97, spread=2),
    "chains of 97 letters": Recipe(length=97, literals=30, period=97, spread=2),
    "chains whose last star but one fails": Recipe(literals=160, length=2, letters=2, tail="*X*b"),
    "parts of the path, then one that is only before": Recipe(
        literals=1, length=10, letters=2, spread=9, parts=True, tail="*X*b"
    ),
    "chains of parts in order": Recipe(
        literals=10, length=10, letters=26, spread=20, parts=True, ordered=True, tail="*X*b"
    ),
    "chains of short parts in order": Recipe(
        literals=4, length=4, letters=26, spread=12, parts=True, ordered=True, tail="*X*b"
    ),
    "short parts in order": Recipe(
        literals=5, length=6, letters=26, spread=6, parts=True, ordered=True, tail="*X*b"
    ),
    "parts of the path, numbers, then one that is only before": Recipe(
        literals=1, length=6, letters=26, spread=11, gap=3, parts=True, numbered=True, tail="*X*b"
    ),
    "runs of many lengths": Runs(length=257),
    "chains that fail at the last but two": Recipe(literals=160, letters=2, tail="*X*b*b"),
    "long chains that fail at the last but two": Recipe(literals=400, letters=3, tail="*X*b*b"),
    "chains of pairs that fail at the last but two": Recipe(
        literals=160, length=2, letters=2, tail="*X*b*b"
    ),
    "short chains that fail at the last but two": Recipe(
        literals=5, length=3, letters=4, tail="*X*b*b"
    ),
    "repeated letters": Recipe(length=1, literals=2, letters=1, spread=300),
}


def cost(recipe: Recipe, url_length: int, edition: str = "google-2019", size: int = LIMIT) -> float:
    """Seconds of processor time to read a file and explain eight verdicts: the better of two."""
    body = recipe.body(size, url_length)
    urls = recipe.urls(url_length)
    times = []
    for _ in range(2):
        began = time.thread_time()
        robots = RobotsTxt.parse(body, edition)
        for url in urls:
            robots.explain(url, "foo")
        times.append(time.thread_time() - began)
    return min(times)


def climb(seconds: float, url_length: int, seed: int, edition: str) -> tuple[float, Recipe]:
    """The recipe that costs most of those tried in some seconds."""
    numbers = random.Random(seed)
    best = numbers.choice(list(RECIPES.values()))
    highest = cost(best, url_length, edition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        recipe = best.changed(numbers)
        found = cost(recipe, url_length, edition)
        if found > highest * 1.02:
            best, highest = recipe, found
            print(f"{highest:6.3f} s  {best}", flush=True)
    return highest, best


def main(arguments: list[str] | None = None) -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="Search for files that cost much")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--url", type=int, default=2_000, metavar="CHARACTERS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edition", choices=EDITIONS, default="google-2019")
    options = parser.parse_args(arguments)
    highest, best = climb(options.seconds, options.url, options.seed, options.edition)
    print(f"worst: {highest:.3f} s for {best}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
