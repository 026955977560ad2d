"""Measure verdicts in bulk: beside Protego, over processes, and what one crawl of the web takes.

    python benchmarks/bulk.py [FOLDER] [--names 150] [--check 1000000] [--quick]

FOLDER holds robots.txt files, one a file; without it files are made that are distributed as real
ones are. The names are those that the files contain most often. ``--check`` compares that number of
rows with single verdicts of ``RobotsTxt``. ``--quick`` is a trial of the tool itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
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
from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.bulk.inputs import parts
from scrapy_robotspec.bulk.inputs.plan import plan
from scrapy_robotspec.bulk.run import Run
from scrapy_robotspec.bulk.work import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: robots.txt responses of one crawl of Common Crawl.
WHOLE_CRAWL = 41_600_000
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
        urls = [f"https://{crc32(body)}.example/robots.txt" for body in files]
        batch = pa.RecordBatch.from_pydict({"url": urls, "body": pa.array(files, pa.binary())})
        mine = seconds(partial(_ask_in_batches, batch, names))
        ratios.append(seconds(partial(_ask_protego, files, names)) / mine)
    return spread(ratios)


def _ask_in_batches(batch: pa.RecordBatch, names: Sequence[str]) -> None:
    for start in range(0, len(batch), _BATCH):
        bulk.verdicts(batch.slice(start, _BATCH), tokens=names)


def _ask_protego(files: Sequence[bytes], names: Sequence[str]) -> None:
    for body in files:
        ask = protego(body)
        for name in names:
            ask(f"{SITE}/", name)


def write_lines(files: Sequence[bytes], number: int, path: Path) -> None:
    """JSON lines with this number of files, each of another site."""
    with path.open("w") as out:
        for at, body in zip(range(number), _repeated(files), strict=False):
            text = body.decode("utf-8", "replace")
            line = {"url": f"https://{at}.example/robots.txt", "body": text}
            out.write(json.dumps(line) + "\n")


def _repeated(files: Sequence[bytes]) -> Iterator[bytes]:
    """The files again and again, with other white space in each rule: no group is known already."""
    for turn in count():
        for body in files:
            yield body.replace(b"llow:", b"llow:" + b" " * turn)


def over_processes(
    path: Path, names: Sequence[str], jobs: Sequence[int]
) -> dict[int, dict[str, float]]:
    """Seconds of a whole run by number of processes, start and output included."""
    found = {}
    for number in jobs:
        out = path.with_suffix(".parquet")
        run = Run(str(out), plan([str(path)]), bulk.Questions.of(names))
        began = time.perf_counter()
        total = run.execute(number, lambda size: None)
        found[number] = {
            "seconds": round(time.perf_counter() - began, 2),
            "files": total.documents,
            "bytes a row": round(out.stat().st_size / total.rows, 3),
        }
    return found


def share_of_writing(path: Path, names: Sequence[str]) -> float:
    """What one process has to do for all of them, as a share of the whole work."""
    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder, ".parquet", bulk.Questions.of(names))
        numbered = list(enumerate(plan([str(path)]).parts))
        parts_took = seconds(lambda: [job.run(*each) for each in numbered])
        results = [job.result_path(number) for number, _ in numbered]
        output = os.path.join(folder, "output")
        writing_took = seconds(lambda: FORMATS[".parquet"].merge(results, output))
    return writing_took / (parts_took + writing_took)


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
    cores = os.cpu_count() or 1
    jobs = [number for number in (1, 2, 4, 8, 16, 32) if number <= cores]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "files.jsonl"
        write_lines(files, 100 if options.quick else 20_000, path)
        parts.PART_BYTES = max(1, path.stat().st_size // (4 * cores))
        found = over_processes(path, names, jobs[:2] if options.quick else jobs)
        share = share_of_writing(path, names)
    print(f"share of the work that one process does alone, as it writes the output: {share:.0%}")
    for number, row in found.items():
        speedup = found[1]["seconds"] / row["seconds"]
        hours = WHOLE_CRAWL * row["seconds"] / row["files"] / 3600
        size = WHOLE_CRAWL * len(names) * row["bytes a row"] / 1e9
        print(
            f"{number} processes: {row}, {speedup:.2f} times as fast as one; "
            f"{WHOLE_CRAWL / 1e6} million files: {hours:.1f} hours, {size:.0f} GB"
        )
    processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(each).ru_maxrss for each in processes)
    print(f"peak memory of a process: {peak // 1024} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
