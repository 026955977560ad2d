"""Measure verdicts in bulk: beside Protego, and the verdict column beside a plain loop.

    python benchmarks/bulk.py [FOLDER] [--names 150] [--check 1000000] [--quick]

FOLDER holds robots.txt files, one a file; without it files are made that are distributed as real
ones are. The names are those that the files contain most often. ``--check`` compares that number of
rows with single verdicts of ``RobotsTxt``. ``--quick`` is a trial of the tool itself.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))  # where run from a clone

from benchmarks.corpus import SITE, make_corpus, read_folder, urls_for
from benchmarks.measures import seconds, spread
from benchmarks.peers import protego
from scrapy_robotspec import RobotsTxt, bulk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Files of one batch, as engines pass them.
_BATCH = 100
_AGENT = re.compile(rb"^user-agent:[ \t]*([a-z_-]+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def names_in(files: Sequence[bytes], number: int) -> list[str]:
    """The product tokens that most files contain, filled up with made ones."""
    found = Counter(name for body in files for name in dict.fromkeys(_AGENT.findall(body.lower())))
    named = [name.decode() for name, _ in found.most_common(number)]
    return named + [f"made{'x' * each}bot" for each in range(number - len(named))]


def beside_protego(rounds: Sequence[Sequence[bytes]], names: Sequence[str]) -> dict[str, float]:
    """Protego's time for the verdicts about ``/``, divided by that of all columns of a batch."""
    ratios = []
    for files in rounds:
        mine = seconds(partial(_ask_in_batches, batch_of(files), names))
        ratios.append(seconds(partial(_ask_protego, files, names)) / mine)
    return spread(ratios)


def one_name(rounds: Sequence[Sequence[bytes]], name: str) -> tuple[dict[str, float], ...]:
    """Microseconds a file for the verdict column, and for a loop over ``RobotsTxt``."""
    columns, loops = [], []
    for files in rounds:
        ask = partial(_ask_in_batches, batch_of(files), [name], columns="allowed")
        columns.append(seconds(ask) / len(files) * 1e6)
        loops.append(seconds(partial(_ask_in_a_loop, files, name)) / len(files) * 1e6)
    return spread(columns), spread(loops)


def batch_of(files: Sequence[bytes]) -> pa.RecordBatch:
    """Files as a batch of responses."""
    urls = [f"https://{crc32(body)}.example/robots.txt" for body in files]
    return pa.RecordBatch.from_pydict({"url": urls, "body": pa.array(files, pa.binary())})


def _ask_in_batches(
    batch: pa.RecordBatch, names: Sequence[str], columns: str | None = None
) -> None:
    for start in range(0, len(batch), _BATCH):
        bulk.verdicts(batch.slice(start, _BATCH), tokens=names, columns=columns)


def _ask_in_a_loop(files: Sequence[bytes], name: str) -> None:
    for body in files:
        RobotsTxt.parse(body).allowed(f"{SITE}/", name)


def _ask_protego(files: Sequence[bytes], names: Sequence[str]) -> None:
    for body in files:
        ask = protego(body)
        for name in names:
            ask(f"{SITE}/", name)


def _repeated(files: Sequence[bytes]) -> Iterator[bytes]:
    """The files again and again, with other white space in each rule: no group is known already."""
    for turn in count():
        for body in files:
            yield body.replace(b"llow:", b"llow:" + b" " * turn)


def check(files: Sequence[bytes], names: Sequence[str], number: int) -> int:
    """Compare rows with single verdicts; the number of those that differ."""
    numbers = random.Random(3)
    differ = done = 0
    for body in _repeated(files):
        paths = [url.removeprefix(SITE) for url in urls_for(body, 5, numbers)]
        batch = pa.RecordBatch.from_pydict({"url": [SITE], "body": [body]})
        rows = bulk.verdicts(batch, tokens=names, paths=paths).to_pylist()
        robots = RobotsTxt.parse(body)
        for row, name in zip(rows, names, strict=True):
            for path, answer in [("/", row), *((each["path"], each) for each in row["paths"])]:
                verdict = robots.explain(SITE + path, name)
                line = verdict.rule.line if verdict.rule else None
                differ += (answer["allowed"], answer["line"]) != (verdict.allowed, line)
                done += 1
        if done >= number:
            return differ
    return differ


def main(arguments: list[str] | None = None) -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="Measure verdicts in bulk")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--names", type=int, default=150)
    parser.add_argument("--check", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    files = read_folder(options.folder) if options.folder else make_corpus(1_000)
    files = files[:30] if options.quick else files
    names = names_in(files, options.names)
    print(f"{len(files)} files, {sum(map(len, files)):,} bytes, {len(names)} names")
    if options.check:
        differ = check(files, names, options.check)
        print(f"rows that differ from single verdicts, of {options.check:,}: {differ}")
        return 1 if differ else 0
    rounds = 2 if options.quick else 5
    versions = _repeated(files)
    new = [list(islice(versions, len(files))) for _ in range(rounds)]
    print(f"times as fast as Protego in one process, new files: {beside_protego(new, names)}")
    known = beside_protego([files] * rounds, names)
    print(f"the same, files with the groups of earlier ones: {known}")
    new = [list(islice(versions, len(files))) for _ in range(rounds)]
    column, loop = one_name(new, names[0])
    print(f"one name, the verdict column, microseconds a file: {column}; a plain loop: {loop}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
