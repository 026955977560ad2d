"""Applies a function to many items, in several processes where that pays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy_robotspec.render.terminal import Screen

_In = TypeVar("_In")
_Out = TypeVar("_Out")

#: Fewer items than this are not worth starting processes, unless ``--jobs`` is given.
_WORTH_PROCESSES = 100


def map_in_order(
    function: Callable[[_In], _Out], items: Sequence[_In], jobs: int | None, screen: Screen
) -> Iterator[_Out]:
    """``map(function, items)`` with a progress bar.

    ``jobs``: max number of processes; None: one for each processor, for many items.
    """
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(items) >= _WORTH_PROCESSES else 1
    jobs = min(jobs, len(items))
    if jobs <= 1:
        for item in screen.progress(items, "read"):
            yield function(item)
        return
    from concurrent.futures import ProcessPoolExecutor

    step = max(1, min(50, len(items) // (4 * jobs)))
    with ProcessPoolExecutor(jobs) as pool:
        for done, result in enumerate(pool.map(function, items, chunksize=step), 1):
            screen.done(done, len(items), "read")
            yield result
    screen.clear()
