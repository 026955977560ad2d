"""WaitingPriorityQueue: what it writes to JOBDIR, and who can read it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from queuelib import queue as queuelib_queues
from scrapy import Request, squeues, version_info
from scrapy.crawler import Crawler
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import LifoMemoryQueue
from scrapy.utils.misc import build_from_crawler

from scrapy_robotspec import WaitingPriorityQueue
from scrapy_robotspec.plugin.scheduling import disk_queues
from scrapy_robotspec.plugin.scheduling.priority_queue import WaitingGlobalQueue, waiting_queue

from .crawlers import crawler_with, crawler_with_engine

AWARE = "scrapy.pqueues.DownloaderAwarePriorityQueue"

FILES = (squeues.PickleLifoDiskQueue, squeues.PickleFifoDiskQueue)
KINDS: dict[str, tuple[Any, Any]] = {
    "files": FILES,
    "without start queue": (squeues.PickleFifoDiskQueue, None),
}
if hasattr(squeues, "PickleLifoSQLiteQueue"):  # from Scrapy 2.19
    KINDS["sqlite"] = (squeues.PickleLifoSQLiteQueue, squeues.PickleFifoSQLiteQueue)
#: Every length of a host that DNS allows, in labels of at most 63 letters.
LENGTHS = [20, 63, 107, 108, 109, 160, 200, 222, 223, 253]


def host_of(length: int) -> str:
    labels = ["h" * 63] * (length // 64)
    return ".".join([*labels, "x" * (length - 64 * len(labels))]).strip(".")


def queue_of(
    queue_class: Any, folder: Path, state: Any = None, kind: tuple[Any, Any] = FILES
) -> tuple[Crawler, Any]:
    crawler = crawler_with_engine()
    queue = build_from_crawler(
        queue_class, crawler, kind[0], str(folder), state or {}, start_queue_cls=kind[1]
    )
    return crawler, queue


def pop_all(queue: Any) -> Counter[str]:
    """No request is in the downloader, so the next one of each origin goes."""
    return Counter(request.url for request in iter(queue.pop, None))


def some_requests() -> list[Request]:
    """Several origins, schemes, ports, slots and priorities; start requests too."""
    requests: list[Request] = []
    for number in range(4):
        for url in (
            f"http://a.example/{number}",
            f"https://a.example/{number}",
            f"http://a.example:8080/{number}",
            f"http://bücher.example/{number}",
            f"http://{host_of(250)}/{number}",
        ):
            requests += [
                Request(url, priority=number % 2, meta=meta)
                for meta in ({}, {"download_slot": "one|slot"}, {"is_start_request": True})
            ]
    requests.append(Request("http://a.example/free", meta={"dont_obey_robotstxt": True}))
    requests.append(Request("data:,text"))
    return requests


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("resumed_by", [WaitingPriorityQueue, DownloaderAwarePriorityQueue])
@pytest.mark.parametrize("written_by", [WaitingPriorityQueue, DownloaderAwarePriorityQueue])
def test_jobdir_moves_between_scrapys_queue_and_ours(
    tmp_path: Path, written_by: Any, resumed_by: Any, kind: tuple[Any, Any]
) -> None:
    requests = some_requests()
    if written_by is DownloaderAwarePriorityQueue:  # names of 223 letters and more it cannot store
        requests = [request for request in requests if len(request.url) < 200]
    urls = [request.url for request in requests]
    _, queue = queue_of(written_by, tmp_path, kind=kind)
    for request in requests:
        queue.push(request)
    state = queue.close()
    _, resumed = queue_of(resumed_by, tmp_path, state, kind)
    assert len(resumed) == len(requests)
    assert pop_all(resumed) == Counter(urls)
    assert not resumed.close()


@pytest.mark.parametrize("length", LENGTHS)
def test_host_of_any_length_can_be_stored(tmp_path: Path, length: int) -> None:
    """In the origin and in the download slot."""
    url = f"http://{host_of(length)}"
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    for number in range(3):
        queue.push(Request(f"{url}/{number}"))
    assert max(len(name.encode()) for name in os.listdir(tmp_path)) <= 255
    state = queue.close()
    _, resumed = queue_of(WaitingPriorityQueue, tmp_path, state)
    resumed.push(Request(f"{url}/3"))
    assert len(list(tmp_path.iterdir())) == 1, "the resumed queue and the new request share it"
    assert pop_all(resumed) == Counter(f"{url}/{n}" for n in range(4))
    if version_info >= (2, 19):  # before, Scrapy left files of empty queues behind
        assert list(tmp_path.iterdir()) == []


def test_resumed_request_of_a_long_host_waits_for_its_robots_txt(tmp_path: Path) -> None:
    url = f"http://{host_of(253)}/"
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    for _ in range(3):
        queue.push(Request(url))
    crawler, resumed = queue_of(WaitingPriorityQueue, tmp_path, queue.close())
    assert crawler.engine is not None
    first = resumed.pop()
    crawler.engine.downloader.active.add(first)
    assert (first.url, resumed.pop()) == (url, None)
    resumed.close()


def test_global_queue_has_the_best_priority_of_all_sites_first(tmp_path: Path) -> None:
    """As the default queue of Scrapy 2.13; also for the requests that it resumes."""
    _, queue = queue_of(WaitingGlobalQueue, tmp_path)
    for number in range(12):
        queue.push(Request(f"http://{number % 4}.example/", priority=number % 5))
    _, resumed = queue_of(WaitingGlobalQueue, tmp_path, queue.close())
    first = [resumed.pop().priority for _ in range(4)]
    assert first == sorted(first, reverse=True)
    assert first[0] == 4
    resumed.close()


def test_request_whose_queue_cannot_be_opened_goes_to_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Scrapy's scheduler uses memory after a ValueError; one WARNING says why."""
    _, queue = queue_of(WaitingPriorityQueue, tmp_path / "key")
    (tmp_path / "key").write_text("not a folder")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"Not a directory|File exists"):
            queue.push(Request("http://a.example/"))
    assert len(queue) == 0
    (record,) = caplog.records
    assert (record.levelname, "stay in memory" in record.message) == ("WARNING", True)


def test_request_of_a_damaged_queue_goes_to_memory_and_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A queue that is kept though it cannot be read makes each pop of its origin fail."""
    url = "http://a.example/"
    _, queue = queue_of(WaitingPriorityQueue, tmp_path, kind=(squeues.PickleFifoDiskQueue, None))
    queue.push(Request(url))
    (requests,) = queue.pqueues.values()
    damaged = Path(requests.key, "-1")
    damaged.mkdir()
    (damaged / "info.json").touch()  # empty, as a machine that fails may leave it
    for _ in range(2):
        with pytest.raises(ValueError, match="damaged"):
            queue.push(Request(url, priority=1))
    assert pop_all(queue) == {url: 1}
    assert len(caplog.records) == 1


def test_requests_of_an_almost_full_disk_go_to_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue in memory needs no disk."""
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    in_memory = build_from_crawler(WaitingPriorityQueue, crawler_with_engine(), LifoMemoryQueue, "")
    monkeypatch.setattr(disk_queues, "_LEAST_FREE", 2**80)
    with pytest.raises(ValueError, match="10 MB of the disk"):
        queue.push(Request("http://a.example/"))
    in_memory.push(Request("http://a.example/"))
    assert (len(queue), len(in_memory)) == (0, 1)
    assert pop_all(in_memory) == {"http://a.example/": 1}
    assert in_memory.close() == {}


def test_a_request_that_cannot_be_stored_leaves_no_file(tmp_path: Path) -> None:
    """Whether its queue is on disk or in memory, Scrapy's scheduler hears of it."""
    unstored = Request("http://a.example/", meta={"lambda": lambda: None})
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    with pytest.raises(ValueError, match=r"pickle|local object"):
        queue.push(unstored)
    assert (len(queue), list(queue.pqueues)) == (0, [])
    if version_info >= (2, 19):  # before, Scrapy left files of empty queues behind
        assert list(tmp_path.iterdir()) == []


def test_a_queue_in_memory_that_takes_no_request_is_forgotten() -> None:
    class Full(LifoMemoryQueue):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.push = self._fail  # as the oldest queuelib does

        def _fail(self, obj: Any) -> None:
            raise KeyError(obj)

    queue = build_from_crawler(WaitingPriorityQueue, crawler_with_engine(), Full, "")
    with pytest.raises(KeyError):
        queue.push(Request("http://a.example/"))
    assert list(queue.pqueues) == []


@pytest.mark.skipif(
    not hasattr(queuelib_queues.LifoMemoryQueue, "peek"), reason="queuelib before 1.6.1"
)
@pytest.mark.parametrize("pushed", [0, 2])
def test_peek_shows_the_next_request(pushed: int) -> None:
    queue = build_from_crawler(WaitingPriorityQueue, crawler_with_engine(), LifoMemoryQueue, "")
    for number in range(pushed):
        queue.push(Request("http://a.example/", priority=number))
    shown = queue.peek()
    assert (shown and shown.priority) == (pushed - 1 if pushed else None)
    assert len(queue) == pushed


def test_a_closed_queue_keeps_no_file_open(tmp_path: Path) -> None:
    """Its reserve of files is for queues that are open."""
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    queue.push(Request("http://a.example/"))
    kept = queue._open_queues
    assert kept._reserve
    queue.close()
    assert not kept._reserve


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, WaitingPriorityQueue if version_info >= (2, 14) else WaitingGlobalQueue),
        ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, WaitingPriorityQueue),
        ({"SCHEDULER": "scrapy_redis.scheduler.Scheduler"}, None),
        ({"SCHEDULER_PRIORITY_QUEUE": DownloaderAwarePriorityQueue}, WaitingPriorityQueue),
        ({"SCHEDULER_PRIORITY_QUEUE": AWARE}, WaitingPriorityQueue),
        ({"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}, None),
        ({"CONCURRENT_REQUESTS_PER_IP": 2}, None),
    ],
)
def test_our_queue_takes_the_place_of_scrapys_own(settings: dict[str, Any], expected: Any) -> None:
    """Not that of a queue or a scheduler that the user has chosen."""
    if version_info < (2, 14) and settings.get("SCHEDULER"):
        expected = expected and WaitingGlobalQueue
    assert waiting_queue(crawler_with(settings).settings) is expected


@pytest.mark.parametrize("length", [222, 223])
def test_a_name_that_scrapys_queue_can_store_stays(tmp_path: Path, length: int) -> None:
    """A longer one is a digest: a file name has 255 bytes, and Scrapy adds to it."""
    slot = "x" * length
    _, queue = queue_of(WaitingPriorityQueue, tmp_path)
    queue.push(Request("data:,page", meta={"download_slot": slot}))
    (name,) = queue.pqueues
    assert (name == slot) is (length == 222)
    queue.close()


@pytest.mark.parametrize("queue_class", [WaitingPriorityQueue, WaitingGlobalQueue])
def test_scrapys_own_queue_serves_a_crawl_that_obeys_no_robots_txt(queue_class: Any) -> None:
    crawler = crawler_with_engine(ROBOTSTXT_OBEY=False)
    queue = build_from_crawler(queue_class, crawler, LifoMemoryQueue, "")
    assert type(queue) is DownloaderAwarePriorityQueue
