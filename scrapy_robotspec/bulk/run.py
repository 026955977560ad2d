"""A run from inputs to one output file; it can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.bulk.pool import run_parts
from scrapy_robotspec.bulk.work import Job
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy_robotspec.bulk.inputs.plan import Plan
    from scrapy_robotspec.bulk.questions import Questions
    from scrapy_robotspec.bulk.work import Counts

#: Beside the output: the folder of a run that is not finished.
SUFFIX = ".parts"
_RUN = "run.json"
#: Raised when the meaning of a part's file changes.
_VERSION = 1


@dataclass(slots=True)
class Total:
    """What became of a run."""

    documents: int = 0
    rows: int = 0
    skipped: int = 0
    problems: int = 0
    named: list[str] = field(default_factory=list)
    resumed: int = 0
    """Parts that an earlier run had finished."""

    def add(self, counts: Counts) -> None:
        """Add the counts of a part."""
        self.documents += counts.documents
        self.rows += counts.rows
        self.skipped += counts.skipped
        self.problems += counts.problems
        self.named += counts.named


class Run:
    """One output file in the making.

    Each part of the input becomes a file in the folder ``OUT.parts``. The output is made of them in
    order, so it does not depend on the number of processes and interruptions, and appears at once.
    """

    def __init__(self, out: str, plan: Plan, questions: Questions) -> None:
        self._out = out
        self._plan = plan
        self.folder = out + SUFFIX
        self._format = os.path.splitext(out)[1].lower()
        self._job = Job(self.folder, self._format, questions)
        self._key = _digest(plan, questions)

    @property
    def size(self) -> int:
        """The work of the whole run (bytes)."""
        return sum(part.size for part in self._plan.parts)

    def prepare(self, *, restart: bool = False) -> None:
        """Make the folder of the parts, or resume in it.

        Raises ``ConfigurationError`` for the folder of another run, unless *restart*.
        """
        about = os.path.join(self.folder, _RUN)
        if os.path.isdir(self.folder) and _key_in(about) != self._key:
            if not restart and os.listdir(self.folder):
                raise ConfigurationError(
                    f"{self.folder} is what another run has finished (other inputs, questions or "
                    "version): repeat that run, or remove the folder with --force"
                )
            shutil.rmtree(self.folder)
        os.makedirs(self.folder, exist_ok=True)
        unfinished = f"{about}.{os.getpid()}"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump({"key": self._key}, file)
        os.replace(unfinished, about)

    def execute(self, jobs: int, advance: Callable[[int], None]) -> Total:
        """Answer all questions and write the output.

        ``advance`` is called with the size of each finished part.
        """
        total = Total()
        unfinished = os.path.join(self.folder, "output")
        FORMATS[self._format].merge(self._results(jobs, advance, total), unfinished)
        os.replace(unfinished, self._out)
        shutil.rmtree(self.folder)
        return total

    def _results(self, jobs: int, advance: Callable[[int], None], total: Total) -> Iterator[str]:
        """The files of all parts in order, while later parts are still under way."""
        parts = self._plan.parts
        found = {number: self._job.finished(number) for number in range(len(parts))}
        finished = {number: counts for number, counts in found.items() if counts is not None}
        total.resumed = len(finished)
        for number in finished:
            advance(parts[number].size)
        todo = [(number, part) for number, part in enumerate(parts) if number not in finished]
        running = run_parts(self._job, todo, jobs)
        for number in range(len(parts)):
            while number not in finished:
                done, counts = next(running)
                finished[done] = counts
                advance(parts[done].size)
            total.add(finished[number])
            yield self._job.result_path(number)


def _key_in(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file)["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(plan: Plan, questions: Questions) -> str:
    """Changes with everything that the rows depend on."""
    digest = hashlib.sha256(f"{_VERSION} {questions!r}\n".encode())
    for line in _lines(plan):
        digest.update(line.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _lines(plan: Plan) -> Iterator[str]:
    for file in plan.files:
        yield f"{os.path.abspath(file.path)} {file.size} {file.changed}\n"
