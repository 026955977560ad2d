"""A run on one machine: one output file for each input.

An output appears whole or not at all. A hidden file beside it says what it was made of, so that
the same run does not make it again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec import __version__
from scrapy_robotspec.bulk.batches import answer, schema_of
from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.errors import RobotSpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.inputs import Input
    from scrapy_robotspec.bulk.questions import Questions

_RECORD = ".json"
_UNFINISHED = ".unfinished"
_UNFINISHED_RECORD = ".json.unfinished"
#: Max problems of one input that are named; the others are counted.
_NAMED = 20


class RunError(RobotSpecError):
    """A run cannot go on."""


@dataclass(slots=True)
class Counts:
    """The counts of one output, or of all."""

    documents: int = 0
    rows: int = 0
    problems: int = 0
    named: list[str] = field(default_factory=list)
    """The first problems, in one line each."""

    def report(self, problem: str) -> None:
        """Count a problem, and log it if it is an early one."""
        self.problems += 1
        if len(self.named) < _NAMED:
            self.named.append(problem)

    def add(self, other: Counts) -> None:
        """Add the counts of an output."""
        self.documents += other.documents
        self.rows += other.rows
        self.problems += other.problems
        self.named += other.named


@dataclass(frozen=True, slots=True)
class Job:
    """One output to make. Picklable."""

    input: Input
    questions: Questions
    folder: str
    format: str

    @property
    def path(self) -> str:
        """The output."""
        return os.path.join(self.folder, f"{self.input.name}.{self.format}")

    @property
    def size(self) -> int:
        """Its share of the work (bytes)."""
        return sum(os.path.getsize(path) for path in self.input.files if os.path.exists(path))

    @property
    def options(self) -> str:
        """Changes with the questions and the release."""
        return _digest([__version__, repr(self.questions)])

    @property
    def key(self) -> str:
        """Changes with everything that the rows depend on."""
        return _digest([self.options, *self.input.state])

    def finished(self) -> Counts | None:
        """The counts of the output if it is there, else None."""
        record = _record_of(self.path)
        return Counts(**record["counts"]) if record and record["key"] == self.key else None

    def run(self) -> Counts:
        """Make the output. It appears whole or not at all."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        try:
            return self._run()
        finally:
            self.clean()

    def clean(self) -> None:
        """Delete unfinished files, also those of a killed process."""
        for ending in (_UNFINISHED, _UNFINISHED_RECORD):
            with suppress(FileNotFoundError):
                os.remove(_beside(self.path, ending))

    def _run(self) -> Counts:
        counts, key = Counts(), self.key
        unfinished, record = (
            _beside(self.path, ending) for ending in (_UNFINISHED, _UNFINISHED_RECORD)
        )
        batches = answer(self._documents(counts), self.questions)
        counts.rows = FORMATS[self.format](unfinished, batches, schema_of(self.questions))
        size = os.path.getsize(unfinished)
        values = {"key": key, "options": self.options, "size": size, "counts": asdict(counts)}
        with open(record, "w", encoding="utf-8") as file:
            json.dump(values, file)
        if os.path.lexists(self.path):
            if _record_of(self.path) is None:
                raise _foreign(self.path)
            os.remove(self.path)  # before its record becomes another one
        _store(record, _beside(self.path, _RECORD))
        _store(unfinished, self.path)
        return counts

    def _documents(self, counts: Counts) -> Iterator[Document]:
        for document in self.input.read(counts.report):
            counts.documents += 1
            yield document


def check_folder(folder: str, inputs: Sequence[str], jobs: Sequence[Job], force: bool) -> None:
    """Refuse a folder whose files would be overwritten or taken for outputs.

    ``force``: leave such files there, unless they have the name of an output. Raises
    :class:`RunError`.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise RunError(f"--out {folder} is not a folder: choose another name")
    inside = os.path.realpath(folder) + os.sep
    if any(inside.startswith(os.path.realpath(each) + os.sep) for each in inputs):
        raise RunError(f"--out {folder} is in a folder of inputs: choose another one")
    outputs = {os.path.abspath(job.path) for job in jobs}
    for path in _visible_files(folder):
        record = _record_of(path)
        if record is None:
            if os.path.abspath(path) in outputs:
                raise _foreign(path)
            if not force:
                raise RunError(f"{_foreign(path)}, or leave it there with --force")
        elif (
            record["options"] != jobs[0].options
            and os.path.abspath(path) not in outputs
            and not force
        ):
            raise RunError(
                f"{path} has verdicts with other options or of another release: choose another "
                "folder, or leave it there with --force"
            )


def _foreign(path: str) -> RunError:
    return RunError(f"{path} was not written by this tool: choose another folder")


def _visible_files(folder: str) -> Iterator[str]:
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("."):
                yield os.path.join(path, name)


def run(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Counts]]:
    """Make some outputs; each with its counts as it is finished.

    Raises :class:`RunError` if a process ends unexpectedly.
    """
    if processes <= 1 or len(jobs) <= 1:
        for job in jobs:
            yield job, job.run()
        return
    # A fresh interpreter: Arrow has threads, which a fork would not copy.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(processes, len(jobs)), context, _prepare_worker)
    try:
        running = {pool.submit(job.run): job for job in jobs}
        for future in as_completed(running):
            yield running[future], future.result()
    except BrokenProcessPool as error:
        raise RunError(
            "a worker process ended unexpectedly: it was killed, or memory ran out. What is "
            "finished is kept; run the same command again, with fewer --jobs"
        ) from error
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for job in jobs:
            job.clean()


def _prepare_worker() -> None:
    """End this process when its parent is gone, even if that was killed; Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _beside(path: str, ending: str) -> str:
    """A hidden file beside an output."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}{ending}")


def _record_of(path: str) -> dict[str, Any] | None:
    """The record of an output's origin; None if this tool has not written it."""
    try:
        with open(_beside(path, _RECORD), encoding="utf-8") as file:
            record: dict[str, Any] = json.load(file)
        return record if record["size"] == os.path.getsize(path) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _store(unfinished: str, path: str) -> None:
    """Give a file its name once it is stored: after a power failure it is whole or not there."""
    with open(unfinished, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(unfinished, path)
