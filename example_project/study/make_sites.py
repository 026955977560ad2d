"""Make a folder of robots.txt files to try a study on: ``make_sites.py FOLDER [NUMBER]``.

The files are invented; their shares of denials are written below and say nothing about the web.
"""

import random
import sys
from pathlib import Path

#: Shares of sites that deny a crawler everything by name.
DENIED = {
    "GPTBot": 0.30,
    "CCBot": 0.25,
    "ClaudeBot": 0.20,
    "Bytespider": 0.18,
    "Google-Extended": 0.15,
    "PerplexityBot": 0.12,
    "Amazonbot": 0.08,
    "bingbot": 0.01,
}
SEARCH = ("Googlebot", "bingbot")
PATHS = ("admin", "cart", "checkout", "login", "search", "private", "tmp", "wp-admin", "*?sort=")


def make_file(numbers: random.Random) -> str:
    """One robots.txt file."""
    kind = numbers.random()
    if kind < 0.03:
        return "<!doctype html>\n<title>Not found</title>\n"
    if kind < 0.08:  # closed to all but search engines
        return "".join(f"User-agent: {name}\n" for name in SEARCH) + closed("*", "Allow: /")
    denied = [name for name, share in DENIED.items() if numbers.random() < share]
    rules = [f"Disallow: /{path}\n" for path in PATHS if numbers.random() < 0.3]
    groups = ["User-agent: *\n" + ("".join(rules) or "Disallow:\n")]
    if numbers.random() < 0.5 and denied:  # one group for all
        groups.append("".join(f"User-agent: {name}\n" for name in denied) + "Disallow: /\n")
    else:
        groups += [f"User-agent: {name}\nDisallow: /\n" for name in denied]
    if numbers.random() < 0.1:
        groups.append("User-agent: GPTBot\nDisallow: /images/\n")
    numbers.shuffle(groups)
    return "\n".join(groups)


def closed(name: str, first: str) -> str:
    """The end of a group, and a group that denies everything."""
    return f"{first}\n\nUser-agent: {name}\nDisallow: /\n"


def make_folder(folder: Path, number: int = 1000) -> None:
    """Write the files, named for their sites."""
    numbers = random.Random(2026)
    folder.mkdir(parents=True, exist_ok=True)
    for each in range(number):
        path = folder / f"site{each:04}.example.txt"
        path.write_text(make_file(numbers), "utf-8", newline="")


if __name__ == "__main__":
    make_folder(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
