"""LiveOrigins: the state of each origin of which anything is under way.

It is in one object, made on first use and deleted when nothing is under way any more. Records are
in the store, compiled rules in their cache, queued requests in the scheduler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin


class LiveOrigin:
    """The state of one origin; a crawl adds its own."""

    __slots__ = ("flight", "is_flying", "origin", "paused_until", "waiters", "was_preempted")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.is_flying = False
        self.flight: Deferred[Any] | None = None
        """The flight, unless it has just begun."""
        self.waiters: list[Deferred[None]] = []
        """Fired when the flight ends."""
        self.paused_until = 0.0
        """When the next flight may start (epoch seconds), after one without an attempt."""
        self.was_preempted = False
        """Since the last complete flight."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self.is_flying or self.waiters or self.paused_until)


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
