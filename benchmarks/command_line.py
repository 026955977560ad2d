"""The command line: its start, and ``check`` of many URLs of one file, beside a Protego script.

    python benchmarks/command_line.py [FILE] [--urls 200000] [--rounds 5]

FILE is a robots.txt; without it one of 50 lines is made. Wall time of whole processes, the least
of the rounds. ``check`` and the script read the same list of URLs and write a line for each.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # where run from a clone

from benchmarks.corpus import make_corpus, urls_for
from benchmarks.peers import TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

ROBOTSPEC = [sys.executable, "-m", "scrapy_robotspec"]
#: What a user of Protego would write.
SCRIPT = """
import sys
from protego import Protego
robots = Protego.parse(open(sys.argv[1], encoding="utf-8-sig", errors="ignore").read())
for url in open(sys.argv[2], encoding="utf-8"):
    url = url.rstrip()
    print("allowed" if robots.can_fetch(url, sys.argv[3]) else "disallowed", url)
"""


def least(words: Sequence[str], rounds: int) -> float:
    """Seconds of the fastest run of a program, with its modules compiled as pip leaves them."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(words, stdout=subprocess.DEVNULL, check=False, env=environment)
        times.append(time.perf_counter() - began)
    return min(times)


def measure_start(file: Path, rounds: int) -> None:
    """Print the milliseconds of a start."""
    for name, words in (
        ("python", [sys.executable, "-c", ""]),
        ("python, import click", [sys.executable, "-c", "import click"]),
        ("robotspec --version", [*ROBOTSPEC, "--version"]),
        ("robotspec --help", [*ROBOTSPEC, "--help"]),
        ("robotspec check FILE URL", [*ROBOTSPEC, "check", str(file), "/page"]),
        ("robotspec lint FILE", [*ROBOTSPEC, "lint", str(file)]),
    ):
        print(f"{name:24} {least(words, rounds) * 1e3:8.0f} ms")


def measure_check(file: Path, number: int, rounds: int, folder: Path) -> None:
    """Print the microseconds of a URL, without the start of the programs."""
    body = file.read_bytes()
    for name, urls in (("URLs", folder / "urls.txt"), ("no URL", folder / "none.txt")):
        asked = urls_for(body, number if name == "URLs" else 1, random.Random(1))
        urls.write_text("".join(f"{url}\n" for url in asked))
    times = {}
    for name, words in (
        ("robotspec check", [*ROBOTSPEC, "check", str(file), "--token", TOKEN, "--urls"]),
        ("Protego", [sys.executable, "-c", SCRIPT, str(file)]),
    ):
        after = [TOKEN] if name == "Protego" else []
        start = least([*words, str(folder / "none.txt"), *after], rounds)
        whole = least([*words, str(folder / "urls.txt"), *after], rounds)
        times[name] = (whole - start) / number
        print(f"{name:24} {times[name] * 1e6:8.2f} µs a URL, {whole:.2f} s in all")
    print(f"{times['Protego'] / times['robotspec check']:.1f} times as fast as Protego")


def main(arguments: list[str] | None = None) -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--urls", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "robots.txt"
        made.write_bytes(sorted(make_corpus(200), key=len)[150])
        measure_start(options.file or made, options.rounds)
        measure_check(options.file or made, options.urls, options.rounds, Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
