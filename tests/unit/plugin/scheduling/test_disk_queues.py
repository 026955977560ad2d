"""Disk queues with a bounded number of open files behave as Scrapy's own."""

from __future__ import annotations

import json
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queuelib import FifoDiskQueue
from scrapy import Request, squeues
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler

from scrapy_robotspec.plugin.scheduling import disk_queues as module
from scrapy_robotspec.plugin.scheduling.disk_queues import (
    ERRORS,
    MAX_OPEN,
    DiskQueue,
    OpenQueues,
)

from .crawlers import crawler_with_engine

Make = Callable[..., list[DiskQueue]]
#: Those that the installed Scrapy has; SQLite queues from 2.19 on.
CLASSES = [
    getattr(squeues, f"Pickle{order}{kind}Queue")
    for order in ("Fifo", "Lifo")
    for kind in ("Disk", "SQLite")
    if hasattr(squeues, f"Pickle{order}{kind}Queue")
]
all_classes = pytest.mark.parametrize("queue_class", CLASSES, ids=lambda cls: _name(cls))


@cache
def crawler() -> Crawler:
    """One for all tests; not made by each process that collects them."""
    return crawler_with_engine()


def _name(queue_class: type) -> str:
    return next(name for name, value in vars(squeues).items() if value is queue_class)


def queues_of(queue_class: type, folder: Path, number: int, limit: int) -> list[DiskQueue]:
    shared = OpenQueues(limit)
    return [DiskQueue(shared, crawler(), queue_class, str(folder / str(n))) for n in range(number)]


@pytest.fixture
def closed_later() -> Iterator[Make]:
    """:func:`queues_of`, whose queues are closed at the end of the test."""
    made: list[DiskQueue] = []

    def make(*given: Any) -> list[DiskQueue]:
        queues = queues_of(*given)
        made.extend(queues)
        return queues

    yield make
    for queue in made:
        queue.close()


def url_of(request: Request | None) -> str | None:
    return None if request is None else request.url


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


steps = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["push", "push", "pop", "len", "close"])),
    max_size=60,
)


@all_classes
def test_queue_found_empty_leaves_no_file(queue_class: Any, tmp_path: Path) -> None:
    """Scrapy 2.13 opens each queue of an earlier crawl, and forgets an empty one unclosed.

    The next queue with the same files would read what the first has not written.
    """
    opened = partial(DiskQueue, OpenQueues(), crawler(), queue_class, str(tmp_path / "queue"))
    forgotten = opened()
    assert len(forgotten) == 0
    assert list(tmp_path.iterdir()) == []
    queue = opened()
    queue.push(Request("http://a.example/"))
    queue.close()
    resumed = opened()
    assert len(resumed) == 1
    resumed.close()


@all_classes
@settings(max_examples=15)
@given(steps=steps, limit=st.integers(1, 3))
def test_answers_are_those_of_scrapys_queue(
    queue_class: Any, steps: list[tuple[int, str]], limit: int
) -> None:
    """Whatever is closed in between, and after both were closed and opened again."""
    with tempfile.TemporaryDirectory() as name:
        ours = queues_of(queue_class, Path(name, "ours"), 4, limit)
        stock = [
            build_from_crawler(queue_class, crawler(), str(Path(name, "stock", str(n))))
            for n in range(4)
        ]
        for serial, (number, step) in enumerate(steps):
            our_queue, stock_queue = ours[number], stock[number]
            if step == "push":
                for queue in (our_queue, stock_queue):
                    queue.push(Request(f"http://a.example/{serial}"))
            elif step == "close":
                our_queue.close()
            elif step == "len":
                assert len(our_queue) == len(stock_queue)
            else:
                assert url_of(our_queue.pop()) == url_of(stock_queue.pop())
        for queue in ours:
            queue.close()
        resumed = queues_of(queue_class, Path(name, "ours"), 4, limit)
        for our_queue, stock_queue in zip(resumed, stock, strict=True):
            assert len(our_queue) == len(stock_queue)
            while (expected := url_of(stock_queue.pop())) is not None:
                assert url_of(our_queue.pop()) == expected
            assert our_queue.pop() is None
        for queue in (*resumed, *stock):
            queue.close()
        assert [path for path in Path(name, "ours").rglob("*") if path.is_file()] == []


@all_classes
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_any_number_of_queues_has_a_bounded_number_of_open_files(
    queue_class: Any, tmp_path: Path, closed_later: Make
) -> None:
    before = open_files()
    queues = closed_later(queue_class, tmp_path, 100, 10)
    most = 0
    for round_number in range(2):
        for number, queue in enumerate(queues):
            queue.push(Request(f"http://{number}.example/{round_number}"))
            most = max(most, open_files())
    assert most - before <= 2 * 10 + 10
    for number, queue in enumerate(queues):
        urls = sorted(request.url for request in iter(queue.pop, None))
        assert urls == [f"http://{number}.example/{round_number}" for round_number in range(2)]


@contextmanager
def no_free_files() -> Iterator[None]:
    """All file descriptors that the process may have are in use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 50, hard))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@all_classes
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_connections_may_have_all_other_files(
    queue_class: Any, tmp_path: Path, closed_later: Make
) -> None:
    """A crawl of many origins has thousands of idle connections."""
    queues = closed_later(queue_class, tmp_path, 20, MAX_OPEN)
    for queue in queues[:3]:
        queue.push(Request("http://a.example/0"))
    with no_free_files():
        for queue in queues:
            queue.push(Request("http://a.example/1"))
        for queue in queues:
            assert queue.pop() is not None
    assert sum(len(queue) for queue in queues) == 3


def test_files_are_kept_in_reserve_until_the_close() -> None:
    shared = OpenQueues()
    kept = list(shared._reserve)
    assert len(kept) == module._RESERVE
    with shared.free_files():
        assert shared._reserve == []
    kept = list(shared._reserve)
    assert len(kept) == module._RESERVE
    shared.close()
    for descriptor in kept:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


@pytest.mark.parametrize(
    ("free", "is_enough"),
    [(0, False), (module._LEAST_FREE - 1, False), (module._LEAST_FREE, True), (1 << 40, True)],
)
def test_a_disk_that_is_almost_full_takes_no_queue(
    monkeypatch: pytest.MonkeyPatch, free: int, is_enough: bool
) -> None:
    monkeypatch.setattr(module, "disk_usage", lambda folder: SimpleNamespace(free=free))
    with nullcontext() if is_enough else pytest.raises(OSError, match="less than 10 MB"):
        OpenQueues.check_space("folder")


class OnFullDisk:
    """A queue whose state cannot be written."""

    def close(self) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("size", [0, 1])
def test_the_close_of_an_empty_queue_may_fail(
    tmp_path: Path, closed_later: Make, size: int
) -> None:
    """It has nothing to keep."""
    (queue,) = closed_later(squeues.PickleLifoDiskQueue, tmp_path, 1, 1)
    for _ in range(size):
        queue.push(Request("http://a.example/"))
    queue._queue, opened = OnFullDisk(), queue._queue
    with pytest.raises(OSError, match="No space left") if size else nullcontext():
        queue.close()
    assert queue._queue is None
    opened.close()


@all_classes
def test_peek_leaves_the_request_where_it_is(
    queue_class: Any, tmp_path: Path, closed_later: Make
) -> None:
    (queue,) = closed_later(queue_class, tmp_path, 1, 1)
    queue.push(Request("http://a.example/"))
    if not hasattr(FifoDiskQueue, "peek"):  # older releases of queuelib
        with pytest.raises(NotImplementedError):
            queue.peek()
        return
    assert url_of(queue.peek()) == url_of(queue.pop()) == "http://a.example/"


def test_a_queue_whose_state_a_full_disk_has_emptied_ends(
    tmp_path: Path, closed_later: Make
) -> None:
    """Its error is seen once; a queue that fails each time would be popped for ever."""
    (queue,) = closed_later(squeues.PickleFifoDiskQueue, tmp_path, 1, 1)
    queue.push(Request("http://a.example/"))
    queue.close()
    (tmp_path / "0" / "info.json").write_text("")
    with pytest.raises(OSError, match="damaged: Expecting value"):
        queue.pop()
    assert queue.pop() is None
    assert len(queue) == 0


def test_a_lifo_queue_of_a_killed_crawl_ends(tmp_path: Path, closed_later: Make) -> None:
    """Its number of requests is that of its last clean end; some were popped since."""
    path = tmp_path / "0"
    (queue,) = closed_later(squeues.PickleLifoDiskQueue, tmp_path, 1, 1)
    for n in range(3):
        queue.push(Request(f"http://a.example/{n}"))
    queue.close()
    queue.pop()
    left = path.read_bytes()
    queue.pop()
    queue.pop()
    queue.close()
    path.write_bytes(left)
    (resumed,) = closed_later(squeues.PickleLifoDiskQueue, tmp_path, 1, 1)
    assert len(resumed) == 3
    assert [url_of(resumed.pop()) for _ in range(2)] == ["http://a.example/1", "http://a.example/0"]
    with pytest.raises(OSError, match="Invalid argument"):
        resumed.pop()
    assert resumed.pop() is None
    assert len(resumed) == 0


def test_request_that_cannot_be_serialised_changes_nothing(
    tmp_path: Path, closed_later: Make
) -> None:
    (queue,) = closed_later(squeues.PickleLifoDiskQueue, tmp_path, 1, 1)
    queue.push(Request("http://a.example/"))
    with pytest.raises(ValueError, match="lambda"):
        queue.push(Request("http://a.example/", meta={"lambda": lambda: None}))
    assert len(queue) == 1
    assert url_of(queue.pop()) == "http://a.example/"


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file may grow beyond *size* bytes, as with a quota."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


#: Length of a request's body, or None to pop one.
short_steps = st.lists(st.one_of(st.integers(0, 3000), st.none()), min_size=1, max_size=30)


@all_classes
@settings(max_examples=40)
@given(steps=short_steps, limit=st.integers(0, 40_000), chunk=st.integers(1, 5))
def test_a_request_that_a_file_does_not_take_whole_leaves_the_others(
    queue_class: Any, steps: list[int | None], limit: int, chunk: int
) -> None:
    """The queue is a list of the requests that it has taken, also when it is opened again."""
    is_fifo, taken = "Fifo" in _name(queue_class), list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "0")
        if _name(queue_class) == "PickleFifoDiskQueue":  # a few requests a file
            folder.mkdir()
            state = {"chunksize": chunk, "size": 0, "tail": [0, 0, 0], "head": [0, 0]}
            (folder / "info.json").write_text(json.dumps(state))
        (queue,) = queues_of(queue_class, Path(name), 1, 1)
        for number, step in enumerate(steps):
            url = f"http://a.example/{number}"
            if step is None:
                wanted = taken.pop(0 if is_fifo else -1) if taken else None
                assert url_of(queue.pop()) == wanted
                continue
            with files_up_to(limit):
                try:
                    queue.push(Request(url, body=b"x" * step))
                except ERRORS:
                    continue
            taken.append(url)
        assert len(queue) == len(taken)
        queue.close()
        (again,) = queues_of(queue_class, Path(name), 1, 1)
        left = [request.url for request in iter(again.pop, None)]
        assert left == (taken if is_fifo else taken[::-1])
        again.close()
