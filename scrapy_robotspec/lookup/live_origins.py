"""LiveOrigins: the state of each origin of which anything is under way.

It is in one object, made on first use and deleted when nothing is under way any more. Records are
in the store, compiled rules in their cache, queued requests in the scheduler.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin

#: No pause is shorter (seconds).
MIN_PAUSE = 0.02


class LiveOrigin:
    """The state of one origin; a crawl adds its own."""

    __slots__ = ("flight", "is_flying", "origin", "waiters", "was_preempted")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.is_flying = False
        self.flight: Deferred[Any] | None = None
        """The flight, unless it has just begun."""
        self.waiters: list[Deferred[None]] = []
        """Fired when the flight ends."""
        self.was_preempted = False
        """Since the last complete flight."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self.is_flying or self.waiters)


_Live = TypeVar("_Live", bound=LiveOrigin)


class LiveOrigins(dict["Origin", _Live]):
    """The live origins of one crawler; *make* makes the state of one."""

    def __init__(self, make: Callable[[Origin], _Live]) -> None:
        super().__init__()
        self._make = make

    def use(self, origin: Origin) -> _Live:
        """The state of *origin*, made if needed; its user settles it."""
        live = self.get(origin)
        if live is None:
            live = self[origin] = self._make(origin)
        return live

    def settle(self, live: LiveOrigin) -> None:
        """Delete *live* if it is idle."""
        if live.is_idle and self.get(live.origin) is live:
            del self[live.origin]


async def pause(
    call_later: Callable[..., Any], seconds: float, waiter: Deferred[None] | None = None
) -> None:
    """Return after *seconds* (inf: never), or when *waiter* is fired before."""
    waiter = Deferred() if waiter is None else waiter
    later = None
    if math.isfinite(seconds) and not waiter.called:
        later = call_later(max(seconds, MIN_PAUSE), fire, waiter)
    try:
        await waiter
    finally:
        if later is not None:
            later.cancel()


def fire(waiter: Deferred[None]) -> None:
    """Fire *waiter*, unless it has fired."""
    if not waiter.called:
        waiter.callback(None)
