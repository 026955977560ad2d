"""The work of one process: reads, answers and writes a part."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.answers import Answers
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.formats import FORMATS
from scrapy_robotspec.bulk.inputs.parts import Problem, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.bulk.inputs.parts import Part
    from scrapy_robotspec.bulk.questions import Questions

#: Ending of the files that hold the rows of a part.
RESULT = ".part"

#: Answers are written when they have this number of output rows, or this size (bytes).
_ROWS = 64 * 1024
_BYTES = 32 * 1024 * 1024
#: Max problems of one part that are named; the others are counted.
_NAMED = 20


def complete(unfinished: str, path: str) -> None:
    """Give a file its name once it is stored.

    So a power failure leaves no file under this name that is not whole.
    """
    with open(unfinished, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(unfinished, path)


@dataclass(slots=True)
class Counts:
    """The counts of one part."""

    documents: int = 0
    rows: int = 0
    skipped: int = 0
    problems: int = 0
    named: tuple[str, ...] = ()
    """The first problems, in one line each."""


@dataclass(frozen=True, slots=True)
class Job:
    """The parts of a run and where their results are kept. Picklable."""

    folder: str
    format: str
    questions: Questions

    def result_path(self, number: int) -> str:
        """The file with the rows of a part."""
        return os.path.join(self.folder, f"{number:08}{RESULT}")

    def counts_path(self, number: int) -> str:
        """The file that is there once a part is finished."""
        return os.path.join(self.folder, f"{number:08}.json")

    def finished(self, number: int) -> Counts | None:
        """The counts of a part that is finished, else None."""
        try:
            with open(self.counts_path(number), encoding="utf-8") as file:
                return Counts(**json.load(file))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def take_begun(self) -> set[int]:
        """The parts that were begun and not finished.

        Deletes what was written of them. To be called while no process is at work.
        """
        names = [name for name in os.listdir(self.folder) if f"{RESULT}." in name]
        for name in names:
            os.remove(os.path.join(self.folder, name))
        return {int(name.partition(".")[0]) for name in names}

    def run(self, number: int, part: Part) -> Counts:
        """Answer the questions about a part.

        The results appear whole or not at all.
        """
        counts = Counts()
        result = self.result_path(number)
        unfinished = f"{result}.{os.getpid()}"
        FORMATS[self.format].write_part(unfinished, _answers(part, self.questions, counts))
        complete(unfinished, result)
        unfinished = f"{self.counts_path(number)}.{os.getpid()}"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(asdict(counts), file)
        complete(unfinished, self.counts_path(number))
        return counts


def _answers(part: Part, questions: Questions, counts: Counts) -> Iterator[Answers]:
    answers = Answers(questions)
    for each in part.read():
        if isinstance(each, Document):
            answers.add(each)
        elif isinstance(each, Skipped):
            counts.skipped += each.number
        elif isinstance(each, Problem):
            counts.problems += 1
            if len(counts.named) < _NAMED:
                counts.named = (*counts.named, each.message)
        if len(answers) >= _ROWS or answers.size >= _BYTES:
            yield _counted(answers, counts)
            answers = Answers(questions)
    if len(answers):
        yield _counted(answers, counts)


def _counted(answers: Answers, counts: Counts) -> Answers:
    counts.documents += answers.documents
    counts.rows += len(answers)
    return answers
