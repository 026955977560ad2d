"""Where requests wait for a robots.txt: in the scheduler, never in the downloader.

:class:`WaitingPriorityQueue` is for Scrapy's own scheduler, :class:`WaitingSchedulerMixin` for
any other. Both keep their requests in lanes and ask the gate; neither knows what robots.txt says.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.core.downloader import Downloader
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
    from scrapy_robotspec.plugin.pools import Lane

#: Meta key of a request that comes from the scheduler and may be handed back to it.
QUEUED = "_robotspec_queued"
#: Meta key that keeps ``dont_filter`` of a request handed back past the duplicates filter.
DONT_FILTER = "_robotspec_dont_filter"

#: Requests that one call of ``next_request`` may put aside before the engine gets its turn.
_ASIDE_AT_ONCE = 100


def hand_back(request: Request) -> Request:
    """Make *request* acceptable for the scheduler that it has just come from."""
    request.meta.setdefault(DONT_FILTER, request.dont_filter)
    request.dont_filter = True
    return request


def taken_up(request: Request) -> bool:
    """Undo what waiting did to *request*; whether it came from a scheduler that knows the gate."""
    meta = request.meta
    if DONT_FILTER in meta:
        request.dont_filter = meta.pop(DONT_FILTER)
    return bool(meta.pop(QUEUED, False))


class _Downloads:
    """The downloader as the lanes see it."""

    def __init__(self, downloader: Downloader) -> None:
        self._slots = downloader.slots
        self._active = downloader.active

    def active_in(self, slot: str) -> int:
        found = self._slots.get(slot)
        return 0 if found is None else len(found.active)

    def is_active(self, request: Request) -> bool:
        return request in self._active


def _middleware(crawler: Crawler) -> RobotSpecMiddleware | None:
    from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware

    with suppress(AttributeError, RuntimeError):  # no engine, or one without middlewares
        return crawler.get_downloader_middleware(RobotSpecMiddleware)
    return None


class WaitingPriorityQueue(DownloaderAwarePriorityQueue):
    """``SCHEDULER_PRIORITY_QUEUE`` that leaves requests in line until their robots.txt is known.

    One line for each download slot and origin; otherwise it is Scrapy's queue: the slot with the
    fewest downloads comes first, and a line goes by priority. What it writes to ``JOBDIR`` can be
    taken up by Scrapy's queue, and the other way round.
    """

    def __init__(
        self,
        crawler: Crawler,
        downstream_queue_cls: Any,
        key: str,
        slot_startprios: dict[str, Iterable[int]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(crawler, downstream_queue_cls, key, slot_startprios, **kwargs)
        assert crawler.engine is not None
        downloader = crawler.engine.downloader
        self._slot_of = downloader.get_slot_key
        middleware = _middleware(crawler)
        self._gate = middleware.gate if middleware is not None else None
        self._lanes: Lanes[ScrapyPriorityQueue] = Lanes(
            self._gate,
            _Downloads(downloader),
            self._drop,
            middleware.count_waiting if middleware is not None else lambda change: None,
        )
        for name, line in self.pqueues.items():
            slot, _, url = name.rpartition("|")
            origin = Origin.of(url)
            self._lanes.open(slot if origin else name, origin, line)

    def push(self, request: Request) -> None:
        slot = self._slot_of(request)
        origin = self._gate.origin_of(request) if self._gate is not None else None
        lane = self._lanes.get(slot, origin)
        if lane is not None:
            self._lanes.push(lane, request)
            return
        name = _name(slot, origin)
        line = self.pqfactory(name)
        try:
            line.push(request)  # may fail: not every request can go to disk
        except Exception:
            line.close()
            raise
        self.pqueues[name] = line
        self._lanes.open(slot, origin, line)

    def pop(self) -> Request | None:
        request = self._lanes.pop()
        if request is not None and self._gate is not None:
            request.meta[QUEUED] = True
        return request

    def peek(self) -> Request | None:
        """The next request, which stays where it is; None where the gate lets none go."""
        lane = self._lanes.peek()
        return lane.line.peek() if lane is not None else None

    def close(self) -> dict[str, list[int]]:
        self._lanes.clear()
        return super().close()

    def __len__(self) -> int:
        return len(self._lanes)

    def _drop(self, lane: Lane[ScrapyPriorityQueue]) -> None:
        self.pqueues.pop(_name(lane.slot, lane.origin), None)
        lane.line.close()
        if self.key:
            with suppress(OSError):  # files that a queue leaves behind keep their folder
                Path(lane.line.key).rmdir()


def _name(slot: str, origin: Origin | None) -> str:
    """A line's name in ``JOBDIR``."""
    return slot if origin is None else f"{slot}|{origin}"


class _Fifo(deque["Request"]):
    """A line in memory."""

    push = deque.append

    def pop(self) -> Request | None:  # type: ignore[override]
        return self.popleft() if self else None


class WaitingSchedulerMixin:
    """What :func:`gated_scheduler` puts before a scheduler's own methods.

    Uses Scrapy's documented scheduler interface only. Requests of waiting origins are taken from
    the scheduler and put aside in memory, at most ``ROBOTSPEC_MAX_ASIDE`` of them; beyond that
    nothing more is taken until one is let go. When the spider closes they are given back to the
    scheduler. A process that is killed loses what it had put aside.
    """

    _lanes: Lanes[_Fifo] | None = None
    _robotspec_crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        maker = getattr(super(), "from_crawler", None)
        scheduler: Self = maker(crawler) if maker is not None else cls()
        scheduler._robotspec_crawler = crawler
        return scheduler

    def open(self, spider: Spider) -> Deferred[None] | None:
        crawler = self._robotspec_crawler
        middleware = _middleware(crawler)
        if middleware is not None:
            assert crawler.engine is not None
            self._gate = middleware.gate
            self._most = middleware.settings.max_aside
            self._slot_of = crawler.engine.downloader.get_slot_key
            self._lanes = Lanes(
                middleware.gate,
                _Downloads(crawler.engine.downloader),
                lambda lane: None,
                middleware.count_waiting,
            )
        opened = getattr(super(), "open", None)
        return opened(spider) if opened is not None else None

    def next_request(self) -> Request | None:
        lanes = self._lanes
        if lanes is None:
            return super().next_request()  # type: ignore[misc,no-any-return]
        request = lanes.pop()
        if request is None:
            request = self._from_scheduler(lanes)
        if request is not None:
            request.meta[QUEUED] = True
        return request

    def _from_scheduler(self, lanes: Lanes[_Fifo]) -> Request | None:
        """The scheduler's next request that may go; those that may not are put aside."""
        for _ in range(_ASIDE_AT_ONCE):
            if len(lanes) >= self._most:
                return None
            request: Request | None = super().next_request()  # type: ignore[misc]
            if request is None:
                return None
            origin = self._gate.origin_of(request)
            if origin is None:
                return request
            slot = self._slot_of(request)
            lane = lanes.get(slot, origin) or lanes.open(slot, origin, _Fifo())
            lanes.push(lane, request)
            request = lanes.pop()
            if request is not None:
                return request
        _compat.wake(self._robotspec_crawler.engine)
        return None

    def has_pending_requests(self) -> bool:
        aside = self._lanes is not None and len(self._lanes) > 0
        return aside or super().has_pending_requests()  # type: ignore[misc]

    def close(self, reason: str) -> Deferred[None] | None:
        if self._lanes is not None:
            lanes, self._lanes = self._lanes, None
            for lane in lanes:
                for request in lane.line:
                    super().enqueue_request(hand_back(request))  # type: ignore[misc]
        closed = getattr(super(), "close", None)
        return closed(reason) if closed is not None else None


def gated_scheduler(base: type) -> type:
    """A subclass of the scheduler *base* that keeps requests of waiting origins aside."""
    if issubclass(base, WaitingSchedulerMixin):
        return base
    return type(f"Waiting{base.__name__}", (WaitingSchedulerMixin, base), {})
