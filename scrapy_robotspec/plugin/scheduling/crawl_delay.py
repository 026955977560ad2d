"""CrawlDelay: holds an origin's requests until its next slot (EXT-01).

``fleet_pace.py`` decides when that is. A slot is reserved while a request waits, before the request
leaves its queue: a request that has to wait stays where it is. An origin's turn goes through three
states, and around again:

    asleep (``timer``)       until a slot is probably free; the gate blocks the origin
    asking (``is_asking``)   until the store grants a slot, or names the time to ask again
    holding (``slot_at``)    until a request takes the slot; the gate lets one through
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.plugin.scheduling.gate import Event
from scrapy_robotspec.plugin.scheduling.sent_pages import SentPages
from scrapy_robotspec.plugin.scheduling.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace
    from scrapy_robotspec.plugin.scheduling.gate import Gate

logger = logging.getLogger(__name__)


class CrawlDelay:
    """Slots of origins, for queued and other requests.

    *send_wait* returns the seconds until the downloader would send a request at once. *monotonic*
    gives seconds. ``pages`` has to learn which requests were sent and answered.
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
        self._turns: dict[Origin, Turn] = {}
        self.pages = SentPages(pace.report, monotonic=monotonic, call_later=call_later)

    def take(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> bool | Deferred[bool]:
        """Whether the queued *request* may go now, or the Deferred of that.

        If not, its origin is held at the gate and the request has to go back to its queue. Before
        *earliest* (epoch seconds) no page goes; the robots.txt counts as a page.
        """
        turn = self._turn(request, origin, delay, earliest)
        if self._holds(turn):
            self._go(turn, request)
            return True
        self._gate.block(origin, math.inf, Event.DELAY_PASSED)
        granted = self._ask(turn)
        if granted is None:
            return False
        granted.addCallback(self._go_if, turn, request)
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
        if self._holds(turn):
            self._serve(turn)
        else:
            self._ask_and_offer(turn)
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

    async def close(self) -> None:
        """Ask for no more slots, and leave the fleet."""
        for turn in self._turns.values():
            turn.cancel()
        self._turns.clear()
        self.pages.close()
        await self._pace.close()

    # --- one origin's turn

    def _turn(self, request: Request, origin: Origin, delay: float, earliest: float) -> Turn:
        turn = self._turns.get(origin)
        if turn is None:
            turn = self._turns[origin] = Turn(origin)
            ahead = earliest - self._clock()
            # A time further ahead than the delay comes from a clock that differs from ours.
            turn.not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
        turn.delay = delay
        turn.request = request
        return turn

    @property
    def _others(self) -> int:
        return self._pace.processes - 1

    def _holds(self, turn: Turn) -> bool:
        return turn.has_slot(self._monotonic(), self._pace.validity(turn.delay))

    def _ask(self, turn: Turn) -> Deferred[bool] | None:
        """Ask for a slot now; whether it is granted.

        None if that is under way already, or if the downloader would not send a page now.
        """
        if turn.is_busy:
            return None
        wait = max(turn.not_before - self._monotonic(), self._send_wait(turn.next_request))
        if wait > 0:
            self._sleep(turn, wait)
            return None
        turn.asked_at, turn.is_asking = self._monotonic(), True
        spacing = turn.interval if self._pace.divides_time else turn.spacing(turn.asked_at)
        return self._pace.reserve(turn.origin, spacing).addBoth(self._on_reply, turn)

    def _on_reply(self, reply: float | Failure, turn: Turn) -> bool:
        """Hold the slot if there is one; if not, ask again in *reply* seconds."""
        turn.is_asking = False
        if self._turns.get(turn.origin) is not turn:  # ended meanwhile
            return False
        if isinstance(reply, Failure):
            logger.error("Error in the crawl delay of %s: %s", turn.origin, reply.getTraceback())
            reply = turn.delay
        if reply:
            turn.refuse(0.0 if self._pace.divides_time else reply)
            self._sleep(turn, reply + turn.courtesy(self._others))
        else:
            turn.grant(self._monotonic())
        return not reply

    def _ask_and_offer(self, turn: Turn) -> None:
        granted = self._ask(turn)
        if granted is not None:
            granted.addCallback(self._offer, turn)

    def _offer(self, granted: bool, turn: Turn) -> None:
        """Offer the slot to a request: the waiting and the queued ones take turns."""
        if not granted:
            return
        if turn.waiters and not (turn.served_waiter and self._gate.count(turn.origin)):
            self._serve(turn)
        else:
            turn.served_waiter = False
            self._gate.block(turn.origin, 0.0, Event.DELAY_PASSED)

    def _serve(self, turn: Turn) -> None:
        request, waiter = turn.waiters.popleft()
        turn.served_waiter = True
        self._go(turn, request)
        waiter.callback(None)

    def _go_if(self, granted: bool, turn: Turn, request: Request) -> bool:
        if granted:
            self._go(turn, request)
        return granted

    def _go(self, turn: Turn, request: Request) -> None:
        """*request* goes with the slot of the turn."""
        assert turn.slot_at is not None
        self.pages.add(request, turn.origin, turn.delay, turn.slot_at, turn.latency)
        self._sleep(turn, turn.use_slot(self._others) + turn.courtesy(self._others))

    def _sleep(self, turn: Turn, seconds: float) -> None:
        """Hold the origin, and look again after *seconds*."""
        turn.cancel()
        turn.timer = self._call_later(seconds, self._wake, turn)
        self._gate.block(turn.origin, math.inf, Event.DELAY_PASSED)

    def _wake(self, turn: Turn) -> None:
        turn.timer = None
        if turn.waiters or self._gate.count(turn.origin):
            self._ask_and_offer(turn)
        else:
            del self._turns[turn.origin]
            self._gate.block(turn.origin, 0.0, Event.DELAY_PASSED)
