"""Measure this package beside an older one, and say what became slower.

    python benchmarks/compare.py [COMMIT] [--files FOLDER] [--rounds 7] [--most 1.1]

COMMIT is unpacked into a temporary folder; without it, the last release's tag, else the last commit
of the day before. Both sides run this file, one process after the other, so that other work on the
machine is that of both; a ratio is the median of the rounds. Measured are the processor time of
reading a file with some verdicts, of names, of the linter, of a first visit, and, with valgrind,
the instructions of a page. The files are made like real ones, or those of FOLDER. Exits with 1 if a
median is above ``--most``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
#: Files that are read, and verdicts and names that are asked for.
_FILES, _VERDICTS, _NAMES, _ORIGINS = 300, (1, 2, 6, 20, 200), (1, 5, 20, 150), 3_000
#: Editions of the linter: one without leniencies, and two in which files need not be plain.
_LINTED = ("google-2019", "google", "classic")
#: Verdicts and names of the other editions.
_FEW_VERDICTS, _FEW_NAMES = (1, 6, 20), 150
#: How often files are read: the shortest time counts, as what is loaded once belongs to no file.
_TIMES = 3
#: Option of a process that measures one side and prints JSON.
_SIDE = "--side"


def main(arguments: Sequence[str] | None = None) -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--files", type=Path, help="a folder of robots.txt files")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=1.1)
    parser.add_argument("--quick", action="store_true", help="a trial of the tool itself")
    parser.add_argument(_SIDE, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.side:
        print(json.dumps(measure(given.files, quick=given.quick)))
        return 0
    commit = given.commit or last_release()
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        unpack(commit, Path(folder))
        sides = (ROOT, Path(folder))
        rounds = [
            [run(side, given.files, quick=given.quick) for side in sides]
            for _ in range(given.rounds)
        ]
        ratios = compared(rounds)
        if shutil.which("valgrind") and not given.quick:
            ratios["instructions of a page"] = instructions(ROOT) / instructions(Path(folder))
    print(f"this commit beside {commit}; 1.00: as long", *rows(ratios, given.most), sep="\n")
    return int(any(ratio is not None and ratio > given.most for ratio in ratios.values()))


def rows(ratios: Mapping[str, float | None], most: float) -> Iterator[str]:
    """A line for each measure, which says so where it takes more than *most* times as long."""
    for name, ratio in ratios.items():
        if ratio is None:
            yield f"   –    {name}  not measured: a side lacks what it calls"
            continue
        yield f"{ratio:6.2f}  {name}{'  slower' if ratio > most else ''}"


def last_release() -> str:
    """The last release's tag, else the last commit of the day before."""
    tag = _git("describe", "--tags", "--abbrev=0", "--match", "v*")
    return tag or _git("rev-list", "-1", "--before=24 hours ago", "HEAD") or "HEAD"


def unpack(commit: str, folder: Path) -> None:
    """The files of *commit* into *folder*."""
    command = ["git", "-C", str(ROOT), "archive", commit]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def run(side: Path, files: Path | None = None, *, quick: bool) -> dict[str, float]:
    """The measures of the package in *side*, by a process that imports it."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        _SIDE,
        *(["--quick"] if quick else []),
        *(["--files", str(files)] if files else []),
    ]
    environment = {**os.environ, "PYTHONPATH": str(side), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compared(rounds: Sequence[Sequence[Mapping[str, float]]]) -> dict[str, float | None]:
    """The median over the rounds of what a measure takes as a multiple of the older side.

    None for a measure that a side lacks.
    """
    return {
        name: statistics.median(ours[name] / older[name] for ours, older in rounds)
        if all(name in side for sides in rounds for side in sides)
        else None
        for name in {**rounds[0][0], **rounds[0][1]}
    }


def instructions(side: Path) -> float:
    """Instructions of a page beyond those without the plugin, as *side* counts them itself."""
    code = (
        "from benchmarks.request_calls import instructions as of;"
        "print(of('plugin=yes') - of('plugin=no'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(side)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=side,
        env=environment,
    )
    return float(done.stdout)


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


# --- one side


def measure(folder: Path | None, *, quick: bool) -> dict[str, float]:
    """Processor time of each measure (microseconds), of the package on ``PYTHONPATH``.

    A measure that this package is too old for is left out.
    """
    import scrapy_robotspec

    assert Path(scrapy_robotspec.__file__).parents[1] == Path(os.environ["PYTHONPATH"]).resolve()
    sys.path.insert(0, str(ROOT))  # the measures of this commit, for both sides
    from benchmarks import measures
    from benchmarks.corpus import make_corpus, read_folder
    from benchmarks.peers import OURS, ours
    from scrapy_robotspec.editions import EDITIONS

    files = read_folder(folder) if folder else make_corpus(20 if quick else _FILES)
    read = {OURS: ours}
    counts = _VERDICTS[:2] if quick else _VERDICTS
    by_verdicts = measures.by_verdicts(files, read, _TIMES, counts)
    found = {f"a file, verdicts: {count}": time for count, time in by_verdicts[OURS].items()}
    for number in _NAMES[:2] if quick else _NAMES:
        names = measures.names(files, read, _TIMES, number, same_url=False)
        found[f"a file, names: {number}"] = names[OURS]["µs a file, mean"]
    for edition in EDITIONS:
        found |= _in_edition(edition, files, quick=quick)
    for edition in _LINTED:
        lint = partial(_lint, edition)
        spent = [
            min(measures.seconds(partial(lint, each)) for _ in range(_TIMES)) for each in files
        ]
        found[f"a file, linted in {edition}"] = sum(spent) / len(files) * 1e6
    with suppress(ImportError, AttributeError, TypeError, AssertionError):
        from benchmarks.origins import first_visit

        found["a first visit"] = first_visit(100 if quick else _ORIGINS)
    return found


def _in_edition(edition: str, files: Sequence[bytes], *, quick: bool) -> dict[str, float]:
    """Verdicts and names in an edition."""
    from benchmarks import measures
    from benchmarks.peers import OURS
    from scrapy_robotspec import RobotsTxt

    read = {OURS: lambda body: RobotsTxt.parse(body, edition).allowed}
    counts, number = (_FEW_VERDICTS[:1], 5) if quick else (_FEW_VERDICTS, _FEW_NAMES)
    by_verdicts = measures.by_verdicts(files, read, _TIMES, counts)
    names = measures.names(files, read, _TIMES, number, same_url=False)
    return {
        **{f"{edition}, verdicts: {count}": by_verdicts[OURS][str(count)] for count in counts},
        f"{edition}, names: {number}": names[OURS]["µs a file, mean"],
    }


def _lint(edition: str, body: bytes) -> None:
    from scrapy_robotspec import RobotsTxt

    RobotsTxt.parse(body, edition).lint()


if __name__ == "__main__":
    sys.exit(main())
