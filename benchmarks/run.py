"""Measure the parser against its peers, side by side.

    python benchmarks/run.py [FOLDER] [--json OUT.json] [--plots FOLDER] [--quick]

FOLDER holds robots.txt files, one a file; without it files are made that are distributed as real
ones are. Peers that are installed take part. Prints a table of ratios with their spread; ``--json``
writes all figures, ``--plots`` pictures of them. ``--quick`` is a trial of the tool itself.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # where run from a clone

from benchmarks import measures
from benchmarks.corpus import make_corpus, read_folder
from benchmarks.peers import NATIVE, OURS, PROTEGO, READ_AGAIN, find_peers
from benchmarks.plots import CURVE, draw

#: Verdicts of a file that are measured together with reading it.
COUNTS = (1, 2, 3, 6, 10, 20, 50, 200, 1_000)


def measure(files: list[bytes], *, quick: bool) -> dict[str, Any]:
    """Every measure over some files."""
    peers = find_peers()
    rounds = 2 if quick else 5
    sample = random.Random(2).sample(files, min(len(files), 20 if quick else 500))
    largest = sorted(files, key=len)[-60:]
    two = {name: peers[name] for name in (OURS, PROTEGO)}
    some = {name: peers[name] for name in (OURS, PROTEGO, *NATIVE) if name in peers}
    by_name = {name: peers[name] for name in peers if name not in READ_AGAIN or name in NATIVE}
    return {
        "files": {"number": len(files), "bytes": sum(map(len, files))},
        "python": platform.python_version(),
        "parse": measures.parse(files, peers, rounds),
        CURVE: measures.by_verdicts(
            sample if quick else files, some, rounds, (1, 2, 5) if quick else COUNTS
        ),
        "verdicts": measures.verdicts(sample, peers, rounds, 20 if quick else 200),
        "verdicts, largest files": measures.verdicts(largest, two, rounds, 10 if quick else 100),
        **{
            f"{number} names{'' if same_url else ', a URL each'}": measures.names(
                sample, by_name, rounds, number, same_url=same_url
            )
            for same_url in (True, False)
            for number in ((1, 5) if quick else (1, 5, 20, 150))
        },
        "nine crawlers in turn": measures.in_turn(20_000 if quick else 500_000, rounds),
        "growth": measures.growth(two, rounds, 1_000 if quick else 18_000),
        "hostile": measures.hostile(20_000 if quick else 512_000),
        "hostile, by length of the URL": (
            measures.hostile_urls(20_000, (200,))
            if quick
            else measures.hostile_urls(512_000, (2_000, 16_000))
        ),
        "memory": measures.memory(files),
    }


def table(results: dict[str, Any]) -> str:
    """The figures for a person."""
    lines = [f"{results['files']['number']} files, {results['files']['bytes']} bytes"]
    for name, rows in results.items():
        if name not in ("files", "python"):
            lines += ["", name, *(f"  {side:32} {_row(row)}" for side, row in rows.items())]
    return "\n".join(lines)


def _row(row: Any) -> str:
    if not isinstance(row, dict):
        return str(row)
    if "median" in row:
        return f"{row['median']} ({row['least']}–{row['greatest']})"
    return "  ".join(f"{label}: {_row(value)}" for label, value in row.items())


def main(arguments: list[str] | None = None) -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="Measure the parser against its peers")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    if options.folder is None:
        files = make_corpus(40 if options.quick else 2_000)
    else:
        files = read_folder(options.folder)
    results = measure(files, quick=options.quick)
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    if options.plots:
        draw(results, options.plots)
    return 0


if __name__ == "__main__":
    sys.exit(main())
