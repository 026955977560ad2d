"""A run from inputs to one output file; it can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.bulk.lock import locked
from scrapy_robotspec.bulk.pool import run_parts
from scrapy_robotspec.bulk.work import RESULT, Job, complete
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
_VERSION = 3


@dataclass(slots=True)
class Total:
    """The counts of a run."""

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

    def execute(self, jobs: int, advance: Callable[[int], None], *, restart: bool = False) -> Total:
        """Answer all questions and write the output.

        ``jobs``: number of processes. ``advance`` is called with the size of each finished part.
        Raises ``ConfigurationError`` if the folder of parts is another run's, unless *restart*, or
        in use.
        """
        with locked(self.folder):
            self._prepare(restart)
            return self._execute(jobs, advance)

    def _prepare(self, restart: bool) -> None:
        """Resume in the folder, or empty it."""
        about = os.path.join(self.folder, _RUN)
        names = os.listdir(self.folder)
        if _key_in(about) == self._key:
            for name in names:  # what a process was writing when it ended
                if not name.endswith((RESULT, ".json")):
                    os.remove(os.path.join(self.folder, name))
            return
        if not restart and any(name.endswith(RESULT) for name in names):
            raise ConfigurationError(
                f"{self.folder} is what another run has finished (other inputs, questions or "
                "version): repeat that run, or drop it with --force"
            )
        for name in names:
            os.remove(os.path.join(self.folder, name))
        with open(about, "w", encoding="utf-8") as file:
            json.dump({"key": self._key}, file)

    def _execute(self, jobs: int, advance: Callable[[int], None]) -> Total:
        total = Total()
        unfinished = os.path.join(self.folder, "output")
        FORMATS[self._format].merge(self._results(jobs, advance, total), unfinished)
        complete(unfinished, self._out)
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
