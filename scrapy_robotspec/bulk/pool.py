"""Runs parts in several processes; survives the loss of one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from scrapy_robotspec.errors import RobotSpecError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from scrapy_robotspec.bulk.inputs.parts import Part
    from scrapy_robotspec.bulk.work import Counts, Job

#: Parts that are submitted for each process, so that none waits while the output is written.
_SUBMITTED = 4
#: Attempts for a part during which a process ended.
_ATTEMPTS = 3

_Todo = tuple[int, "Part"]


class WorkerLostError(RobotSpecError):
    """Worker processes ended again and again during the same parts."""


def run_parts(job: Job, todo: Sequence[_Todo], jobs: int) -> Iterator[tuple[int, Counts]]:
    """Run some parts; number and counts of each as it is finished.

    Raises :class:`WorkerLostError` for a part during which a process ended three times.
    """
    if jobs <= 1 or len(todo) <= 1:
        for number, part in todo:
            yield number, job.run(number, part)
        return
    attempts: Counter[int] = Counter()
    left = dict(todo)
    suspects: set[int] = set()
    while left:
        # One by one, so that it is known during which part a process ends.
        some = {number: left[number] for number in suspects} or dict(left)
        for number, counts in _run_until_broken(job, some, 1 if suspects else jobs):
            del left[number]
            yield number, counts
        suspects = job.take_begun() & left.keys()
        attempts.update(suspects or some.keys() & left.keys())
        lost = [number for number in left if attempts[number] >= _ATTEMPTS]
        if lost:
            raise WorkerLostError(
                f"a worker process ended unexpectedly {_ATTEMPTS} times while it read part "
                f"{lost[0]} ({_describe(left[lost[0]])}): it was killed, or memory ran out. What "
                "is finished is kept; run the same command again, with fewer --jobs"
            )


def _run_until_broken(job: Job, todo: dict[int, Part], jobs: int) -> Iterator[tuple[int, Counts]]:
    """Run some parts, until a process ends unexpectedly."""
    waiting = iter(todo.items())
    # A fresh interpreter: Arrow has threads, which a fork would not copy.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(todo)), mp_context=context, initializer=_prepare_worker
    ) as pool:
        running: dict[Future[Counts], int] = {}
        try:
            while True:
                while (
                    len(running) < _SUBMITTED * jobs and (each := next(waiting, None)) is not None
                ):
                    running[pool.submit(job.run, *each)] = each[0]
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    counts = future.result()
                    yield running.pop(future), counts
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _prepare_worker() -> None:
    """End this process when its parent is gone, even if that was killed.

    Ctrl-C is the parent's: it lets the parts that are under way be finished.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _describe(part: Part) -> str:
    path = getattr(part, "path", None)
    return str(path) if path else "files of a folder"
