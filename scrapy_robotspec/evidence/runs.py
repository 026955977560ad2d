"""Finds and reads the runs in an evidence folder."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy_robotspec.evidence.run_reader import RunFiles, RunReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.evidence.log_lines import Line

_NAME = re.compile(r"(decisions|robots)-(.+)-(\d{5,})\.(jsonl|warc\.gz)")
#: Lines between two calls of ``Progress``.
_STEP = 1000

#: Called with the bytes of log that are done, and with those of all logs.
Progress = Callable[[int, int], None]


def find_runs(folder: Path) -> dict[str, RunFiles]:
    """The runs in *folder* by name, in order; other files are ignored."""
    runs: dict[str, RunFiles] = defaultdict(RunFiles)
    for path in sorted(folder.iterdir()):
        found = _NAME.fullmatch(path.name)
        if found is None:
            continue
        if found[1] == "decisions":
            runs[found[2]].logs[int(found[3])] = path
        else:
            runs[found[2]].archives[path.name] = path
    return dict(sorted(runs.items()))


def read_runs(
    folder: Path, progress: Progress | None = None
) -> Iterator[tuple[RunReader, Iterator[Line]]]:
    """Each run in *folder* with its lines.

    The lines of a run have to be read before the next run.
    """
    runs = find_runs(folder)
    total = sum(path.stat().st_size for files in runs.values() for path in files.logs.values())
    done = 0

    def counted(lines: Iterator[Line]) -> Iterator[Line]:
        nonlocal done
        for line in lines:
            yield line
            done += line.size
            if progress is not None and not line.number % _STEP:
                progress(done, total)

    for name, files in runs.items():
        reader = RunReader(name, files)
        yield reader, counted(reader.lines())
