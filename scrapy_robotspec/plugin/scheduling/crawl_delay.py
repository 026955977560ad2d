"""CrawlDelay: holds an origin's requests until its next slot (EXT-01).

When that is, ``fleet_pace.py`` answers. A slot is asked for when a request waits, before the
request leaves its queue: a request that has to wait stays where it is.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.plugin.scheduling.gate import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace
    from scrapy_robotspec.plugin.scheduling.gate import Gate

logger = logging.getLogger(__name__)

#: Slots are longer than the delay by this part of it, at most this many seconds. A page that is
#: sent later than that after its slot was asked for is reported, and the next slot moves.
_MARGIN, _MARGIN_MAX = 0.015, 0.02
#: A slot that was reserved ahead is void after this part of the delay or, if that is more, after
#: this many seconds.
_VALID, _VALID_MIN = 0.5, 0.1
#: Processes that compete ask up to this part of the delay, at most this many seconds, after the
#: slot is free: the sooner, the longer they have waited.
_YIELD, _YIELD_MAX = 0.01, 0.02


class CrawlDelay:
    """Slots of origins, for queued and other requests.

    *send_wait* returns the seconds until the downloader would send a request at once. *monotonic*
    gives seconds.
    """

    def __init__(
        self,
        pace: FleetPace,
        gate: Gate,
        *,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
        send_wait: Callable[[Request], float],
    ) -> None:
        self._pace = pace
        self._gate = gate
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._send_wait = send_wait
        self._turns: dict[Origin, _Turn] = {}
        self._sent: WeakKeyDictionary[Request, _Page] = WeakKeyDictionary()

    def take(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> bool | Deferred[bool]:
        """Whether the queued *request* may go now, or the Deferred of that.

        If not, its origin is held at the gate and the request has to go back to its queue. Before
        *earliest* (epoch seconds) no page goes; the robots.txt counts as a page.
        """
        turn = self._turn(request, origin, delay, earliest)
        if turn.has_slot(self._monotonic()):
            self._go(turn, request)
            return True
        if turn.is_busy:
            self._gate.block(origin, math.inf, Event.DELAY_PASSED)
            return False
        wait = max(turn.not_before - self._monotonic(), self._send_wait(request))
        if wait > 0:
            self._sleep(turn, wait)
            return False
        self._gate.block(origin, math.inf, Event.DELAY_PASSED)
        granted = self._ask(turn).addCallback(self._go_if, turn, request)
        return bool(granted.result) if granted.called else granted

    def wait(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> Deferred[None]:
        """Fires when *request*, which does not come from the scheduler, may go.

        Such requests of one origin take turns with the queued ones. Cancelling is harmless.
        """
        turn = self._turn(request, origin, delay, earliest)
        waiter: Deferred[None] = Deferred(lambda cancelled: turn.waiters.remove(entry))
        entry = (request, waiter)
        turn.waiters.append(entry)
        if turn.has_slot(self._monotonic()):
            self._serve(turn)
        elif not turn.is_busy:
            self._sleep(turn, max(0.0, turn.not_before - self._monotonic()))
        return waiter

    def open_gate(self, origin: Origin) -> None:
        """Release *origin*, as far as its delay allows."""
        turn = self._turns.get(origin)
        if turn is None:
            self._gate.release(origin)
        elif not turn.is_busy:
            self._gate.block(origin, 0.0, Event.DELAY_PASSED)

    def free(self, origin: Origin) -> None:
        """No delay holds for *origin* any more."""
        turn = self._turns.pop(origin, None)
        if turn is not None:
            turn.cancel()
            while turn.waiters:
                turn.waiters.popleft()[1].callback(None)
        self._gate.release(origin)

    def sent(self, request: Request) -> None:
        """*request* has reached the downloader. A handler of Scrapy's signal."""
        page = self._sent.get(request)
        if page is not None:
            page.sent_at = self._monotonic()
            # Not now: the downloader sends it after this, in the same turn of the event loop.
            self._call_later(0.0, self._report_late, page)

    def answered(self, request: Request) -> None:
        """*request* has a response. A handler of Scrapy's signal.

        A response that comes unusually late may be one to a request that did, on a new connection
        or a busy machine. The next slot then counts from the usual time before the response.
        """
        page = self._sent.pop(request, None)
        turn = self._turns.get(page.origin) if page is not None else None
        if page is not None and turn is not None:
            usual = turn.latency.usual
            if turn.latency.add(self._monotonic() - page.sent_at, turn.margin):
                self._pace.report(page.origin, age=usual + turn.margin)

    def _report_late(self, page: _Page) -> None:
        if self._monotonic() - page.asked_at > page.margin:
            self._pace.report(page.origin, age=page.margin)

    async def close(self) -> None:
        """Ask for no more slots, and leave the fleet."""
        for turn in self._turns.values():
            turn.cancel()
        self._turns.clear()
        await self._pace.close()

    # --- one origin's turn

    def _turn(self, request: Request, origin: Origin, delay: float, earliest: float) -> _Turn:
        turn = self._turns.get(origin)
        if turn is None:
            turn = self._turns[origin] = _Turn(origin)
            ahead = earliest - self._clock()
            # A time further ahead than the delay comes from a clock that differs from ours.
            turn.not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
        turn.delay = delay
        turn.request = request
        return turn

    def _ask(self, turn: _Turn) -> Deferred[bool]:
        """Ask for a slot now; whether there was one. If not, ask again in time."""
        turn.asked_at, turn.is_asking = self._monotonic(), True
        asking = self._pace.reserve(turn.origin, turn.delay + turn.margin)
        return asking.addBoth(self._on_reply, turn)

    def _on_reply(self, reply: float | Failure, turn: _Turn) -> bool:
        turn.is_asking = False
        if self._turns.get(turn.origin) is not turn:  # ended meanwhile
            return False
        if isinstance(reply, Failure):
            logger.error("Error in the crawl delay of %s: %s", turn.origin, reply.getTraceback())
            reply = turn.delay
        if reply:
            turn.lost += 1
            self._sleep(turn, reply + self._courtesy(turn))
        return not reply

    def _sleep(self, turn: _Turn, seconds: float) -> None:
        """Hold the origin, and look again after *seconds*."""
        turn.cancel()
        turn.timer = self._call_later(seconds, self._wake, turn)
        self._gate.block(turn.origin, math.inf, Event.DELAY_PASSED)

    def _wake(self, turn: _Turn) -> None:
        turn.timer = None
        if not turn.waiters and not self._gate.count(turn.origin):
            del self._turns[turn.origin]
            self._gate.block(turn.origin, 0.0, Event.DELAY_PASSED)
            return
        wait = self._send_wait(turn.next_request)
        if wait > 0:
            self._sleep(turn, wait)
        else:
            self._ask(turn).addCallback(self._use, turn)

    def _use(self, granted: bool, turn: _Turn) -> None:
        """Give the slot to a request: the waiting and the queued ones take turns."""
        if not granted:
            return
        turn.slot_at = turn.asked_at
        if turn.waiters and not (turn.served_waiter and self._gate.count(turn.origin)):
            self._serve(turn)
        else:
            turn.served_waiter = False
            self._gate.block(turn.origin, 0.0, Event.DELAY_PASSED)

    def _serve(self, turn: _Turn) -> None:
        request, waiter = turn.waiters.popleft()
        turn.served_waiter = True
        self._go(turn, request)
        waiter.callback(None)

    def _go_if(self, granted: bool, turn: _Turn, request: Request) -> bool:
        if granted:
            turn.slot_at = turn.asked_at
            self._go(turn, request)
        return granted

    def _go(self, turn: _Turn, request: Request) -> None:
        """*request* goes with the slot of the turn."""
        assert turn.slot_at is not None
        self._sent[request] = _Page(turn.origin, turn.slot_at, turn.margin)
        turn.slot_at, turn.lost = None, 0
        self._sleep(turn, turn.delay + turn.margin + self._courtesy(turn))

    def _courtesy(self, turn: _Turn) -> float:
        """Seconds to leave to processes that have probably waited longer."""
        others = self._pace.processes - 1
        if turn.lost >= others:
            return 0.0
        return min(_YIELD * turn.delay, _YIELD_MAX) * (1 - turn.lost / others)


class _Page:
    """A request that goes with a slot."""

    __slots__ = ("asked_at", "margin", "origin", "sent_at")

    def __init__(self, origin: Origin, asked_at: float, margin: float) -> None:
        self.origin = origin
        self.asked_at = self.sent_at = asked_at
        self.margin = margin


class _Latency:
    """Usual time to a response, smoothed like the round-trip time of TCP (RFC 6298)."""

    __slots__ = ("_deviation", "usual")

    def __init__(self) -> None:
        self.usual = 0.0
        self._deviation: float | None = None

    def add(self, seconds: float, margin: float) -> bool:
        """Add a measurement; return whether it is unusually long."""
        if self._deviation is None:
            self.usual, self._deviation = seconds, seconds / 2
            return True
        error = seconds - self.usual
        unusual = error > 4 * self._deviation + 2 * margin
        self._deviation += (abs(error) - self._deviation) / 4
        self.usual += error / 8
        return unusual


class _Turn:
    """The state of one origin with a crawl delay."""

    __slots__ = (
        "asked_at",
        "delay",
        "is_asking",
        "latency",
        "lost",
        "not_before",
        "origin",
        "request",
        "served_waiter",
        "slot_at",
        "timer",
        "waiters",
    )

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.delay = 0.0
        self.not_before = 0.0
        self.request: Request
        self.asked_at = 0.0
        self.slot_at: float | None = None
        """When the slot that is held was asked for; None: there is none."""
        self.is_asking = False
        self.lost = 0
        """Slots that other processes took since this one's last."""
        self.latency = _Latency()
        self.timer: Any = None
        self.waiters: deque[tuple[Request, Deferred[None]]] = deque()
        self.served_waiter = False

    @property
    def margin(self) -> float:
        return min(_MARGIN * self.delay, _MARGIN_MAX)

    @property
    def is_busy(self) -> bool:
        """Whether a timer or the store will continue the turn."""
        return self.is_asking or self.timer is not None

    @property
    def next_request(self) -> Request:
        """A request with the download slot of the next one."""
        return self.waiters[0][0] if self.waiters else self.request

    def has_slot(self, now: float) -> bool:
        """Whether a slot is held that is still valid."""
        valid = max(_VALID * self.delay, _VALID_MIN)
        if self.slot_at is not None and now - self.slot_at > valid:
            self.slot_at = None
        return self.slot_at is not None

    def cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
