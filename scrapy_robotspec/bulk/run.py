"""A run on one machine, and the formats of its outputs.

There is one output file for each input. It appears whole or not at all. A hidden file beside it
says what it was made of, so that the same run does not make it again.
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
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from fcntl import LOCK_EX, LOCK_NB, flock
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pyarrow.compute import replace_substring_regex

from scrapy_robotspec._version import __version__
from scrapy_robotspec.bulk.batches import answer
from scrapy_robotspec.bulk.warc import Archives, file_states
from scrapy_robotspec.errors import RobotSpecError
from scrapy_robotspec.files import replacing, unfinished

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.bulk.inputs import Input
    from scrapy_robotspec.bulk.questions import Questions

#: Max problems of one input that are named; the others are counted.
_NAMED = 20
#: The first character of a cell that is a formula to spreadsheets.
_FORMULA = r"\A([=+\-@\t\r])"


class RunError(RobotSpecError):
    """A run cannot go on."""


@dataclass(slots=True)
class Counts:
    """The counts of one output."""

    documents: int = 0
    rows: int = 0
    problems: int = 0
    named: list[str] = field(default_factory=list)
    """The first problems, in one line each."""

    def report(self, problem: str) -> None:
        """Count a problem, and keep it if it is an early one."""
        self.problems += 1
        if len(self.named) < _NAMED:
            self.named.append(problem)


@dataclass(frozen=True, slots=True)
class Job:
    """One output to make. Picklable."""

    input: Input
    questions: Questions
    folder: str
    format: str
    """The ending of the output's name: parquet or csv."""
    archives: Sequence[str] = field(default=(), compare=False)
    """All archives of the run."""

    @property
    def path(self) -> str:
        """The output."""
        return os.path.join(self.folder, f"{self.input.name}.{self.format}")

    def key(self, searched: Iterable[str] = ()) -> str:
        """Changes with all that the rows depend on; *searched*: states of archives."""
        states = [*file_states(self.input.files), *searched]
        text = "\n".join([__version__, repr(self.questions), *states])
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    def finished(self) -> Counts | None:
        """The counts of the output if it is there, else None.

        None also where it must be made again. Raises :class:`RunError` for a file of that name that
        another tool has written.
        """
        if not os.path.lexists(self.path):
            return None
        try:
            with open(self._record_path, encoding="utf-8") as file:
                record = json.load(file)
            is_ours = record["size"] == os.path.getsize(self.path)
        except (OSError, ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            raise RunError(f"{self.path} was not written by this tool: choose another folder")
        keys = (self.key(searched) for searched in ((), file_states(self.archives)))
        return Counts(**record["counts"]) if record["key"] in keys else None

    def run(self) -> Counts:
        """Make the output. It appears whole or not at all."""
        counts, key, archives = Counts(), self.key(), Archives(self.archives)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        batches = answer(self.input.read(counts.report, archives), self.questions)
        with replacing(self.path) as output:
            is_csv = self.format == "csv"
            open_writer = open_csv if is_csv else open_parquet
            with open_writer(output, self.questions.schema) as writer:
                for batch in batches:
                    writer.write_batch(to_cells(batch) if is_csv else batch)
                    counts.rows += len(batch)
            counts.documents = counts.rows // self.questions.rows
            output.flush()
            if archives.searched:
                key = self.key(archives.searched)
            values = {"key": key, "size": output.tell(), "counts": asdict(counts)}
            with suppress(FileNotFoundError):
                os.remove(self.path)  # before its record becomes another one
            with open(self._record_path, "w", encoding="utf-8") as file:
                json.dump(values, file)
        return counts

    @property
    def _record_path(self) -> str:
        """A hidden file beside the output."""
        folder, name = os.path.split(self.path)
        return os.path.join(folder, f".{name}.json")


@contextmanager
def opened(folder: str, inputs: Sequence[str]) -> Iterator[None]:
    """Make the folder of outputs, and keep other runs out of it.

    Raises :class:`RunError` for a folder within the inputs, and for one that another run uses.
    """
    inside = os.path.realpath(folder) + os.sep
    if any(inside.startswith(os.path.realpath(each) + os.sep) for each in inputs):
        raise RunError(f"--out {folder} is in a folder of inputs: choose another one")
    os.makedirs(folder, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot lock a folder
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except BlockingIOError as error:
                raise RunError(
                    f"another run writes to {folder}: wait for it, or choose another folder"
                ) from error
        yield
    finally:
        os.close(lock)


def run(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Counts]]:
    """Make some outputs in an opened folder; each with its counts as it is finished.

    Raises :class:`RunError` if a process ends unexpectedly.
    """
    try:
        if processes > 1 and len(jobs) > 1:
            yield from _run_in_processes(jobs, processes)
        else:
            for job in jobs:
                yield job, job.run()
    finally:
        for path in [path for job in jobs for path in unfinished(job.path)]:  # of killed processes
            os.remove(path)


def _run_in_processes(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Counts]]:
    # A fresh interpreter: Arrow has threads, which a fork would not copy.
    context = multiprocessing.get_context("spawn")
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
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare_worker() -> None:
    """End this process when its parent is gone, even if that was killed; Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def open_parquet(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Write batches as Parquet."""
    # Rows are sorted by no column, so smallest and greatest values would help no reader.
    return pq.ParquetWriter(
        file, schema, compression="zstd", store_schema=False, write_statistics=False
    )


def open_csv(file: BinaryIO, schema: pa.Schema) -> pa_csv.CSVWriter:
    """Write batches of cells as CSV."""
    cells = to_cells(pa.RecordBatch.from_pylist([], schema=schema))
    options = pa_csv.WriteOptions(quoting_style="needed")
    return pa_csv.CSVWriter(file, cells.schema, write_options=options)


def to_cells(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch as cells of CSV.

    Lists and objects are JSON, and no cell is a formula.
    """
    return pa.RecordBatch.from_arrays(list(map(_cells, batch)), batch.schema.names)


def _cells(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type) or pa.types.is_floating(column.type):
        # A number always has a point: DuckDB rounds 0.4 where the rows before it have none.
        kind = {pa.lib.Type_MAP: dict, pa.lib.Type_DOUBLE: float}.get(column.type.id, list)
        texts = [
            None if value is None else json.dumps(kind(value), ensure_ascii=False)
            for value in column.to_pylist()
        ]
        return pa.array(texts, pa.string())
    if pa.types.is_string(column.type):
        return replace_substring_regex(column, _FORMULA, r"'\1")
    return column
