"""The files that are measured: a folder of real ones, or as many made with what real ones are like.

Also the URLs that are asked about. Everything follows from a seed, so two runs measure the same.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SITE = "https://www.example.com"
# fmt: off
_WORDS = (
    "about", "admin", "api", "archive", "author", "blog", "cart", "cgi-bin", "checkout",
    "comment", "content", "css", "de", "en", "event", "feed", "file", "forum", "image",
    "include", "item", "js", "login", "media", "news", "order", "page", "print", "private",
    "product", "profile", "search", "shop", "static", "tag", "tmp", "user", "video",
    "wp-content",
)
# fmt: on
_FILES = ("", "index.html", "item-1234.html", "?page=2&sort=asc", "search?q=shoes", "x.png")
_CRAWLERS = ("Googlebot", "bingbot", "AhrefsBot", "GPTBot", "CCBot", "MJ12bot", "SemrushBot")


def read_folder(folder: Path) -> list[bytes]:
    """Every file of a folder, by name."""
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]


def make_corpus(number: int, seed: int = 1) -> list[bytes]:
    """Files distributed as 5,761 real ones were.

    Rules of the default group: median 12, a tenth above 81, a hundredth near 500. A quarter of the
    rules hold ``*`` or a final ``$``, 6% allow. A tenth of the files have nine groups or more, a
    quarter end lines with CR LF, a fifth have no default group.
    """
    numbers = random.Random(seed)
    return [_make_file(numbers) for _ in range(number)]


def _make_file(numbers: random.Random) -> bytes:
    end = "\r\n" if numbers.random() < 0.25 else "\n"
    groups = [_make_group(numbers, "*", _size(numbers, 12, 1.49))] * (numbers.random() < 0.8)
    for _ in range(_size(numbers, 1, 1.7) - 1):
        groups.append(_make_group(numbers, numbers.choice(_CRAWLERS), _size(numbers, 2, 1.2)))
    numbers.shuffle(groups)
    lines = ["# made for measuring", *(line for group in groups for line in (*group, ""))]
    return end.join([*lines, f"Sitemap: {SITE}/sitemap.xml", ""]).encode()


def _size(numbers: random.Random, median: float, spread: float) -> int:
    return min(5_000, max(1, round(median * math.exp(spread * numbers.gauss(0, 1)))))


def _make_group(numbers: random.Random, agent: str, rules: int) -> list[str]:
    return [f"User-agent: {agent}", *(_make_rule(numbers) for _ in range(rules))]


def _make_rule(numbers: random.Random) -> str:
    field = "Allow" if numbers.random() < 0.06 else "Disallow"
    path = "/" + "/".join(numbers.choices(_WORDS, k=numbers.choice((1, 1, 2, 2, 3))))
    if numbers.random() < 0.5:
        path += f"-{numbers.randrange(1000)}"
    kind = numbers.random()
    if kind < 0.07:
        path += "*"
    elif kind < 0.12:
        path = f"/*.{numbers.choice(_WORDS)}$"
    elif kind < 0.19:
        path = f"/*{numbers.choice('?&/')}{numbers.choice(_WORDS)}{numbers.randrange(100)}="
    elif kind < 0.25:
        path += f"/*/{numbers.choice(_WORDS)}"
    return f"{field}: {path}"


def urls_for(body: bytes, number: int, numbers: random.Random) -> list[str]:
    """URLs to ask a file about: half from its own rules, half from common words."""
    patterns = [
        value.partition("#")[0].strip()
        for line in body.decode("utf-8", "replace").splitlines()
        for name, _, value in [line.partition(":")]
        if name.strip().lower() in ("allow", "disallow") and value.strip()
    ]
    return [SITE + _make_path(patterns, numbers) for _ in range(number)]


def _make_path(patterns: list[str], numbers: random.Random) -> str:
    if patterns and numbers.random() < 0.5:
        path = numbers.choice(patterns).replace("$", "")
        path = "/" + path.replace("*", numbers.choice(("", "x", "foo/bar"))).lstrip("/")
        path += numbers.choice(("", "/", "x", "index.html", "?a=b"))
    else:
        words = numbers.choices(_WORDS, k=numbers.randint(1, 3))
        path = "/" + "/".join([*words, numbers.choice(_FILES)])
    return "".join(letter for letter in path if letter.isascii() and letter.isprintable())
