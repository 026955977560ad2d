"""LiveOrigins: the state of each origin of which anything is under way.

It is in one object, made on first use and deleted when nothing is under way any more. Records are
in the store, compiled rules in their cache, queued requests in the scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin

#: No pause is shorter (seconds).
MIN_PAUSE = 0.02
#: Pause until what failed here, or had no free slot, is tried again (seconds).
RETRY_PAUSE = 1.0


class QueueState(Enum):
    """Whether requests of an origin may leave the scheduler (the plugin's ``gate.py``)."""

    READY = "ready"
    UNKNOWN = "unknown"
    HELD = "held"


@dataclass(slots=True, eq=False)
class LiveOrigin:
    """The state of one origin: the lookup's, then the crawl's."""

    origin: Origin
    fetch: Deferred[Any] | None = None
    """The fetch in progress, with all that belongs to it."""
    waiters: dict[Deferred[None], None] = field(default_factory=dict)
    """Fired when the fetch ends, in this order."""
    was_preempted: bool = False
    """Since the last complete fetch."""
    state: QueueState = QueueState.READY
    holds: int = 0
    """Number of requests that hold the others in the scheduler."""
    waits: int = 0
    """Number of waits for its robots.txt."""
    questions: int = 0
    """Number of these in which no request waits: a spider has asked."""
    queued: int = 0
    """Number of requests that are held back in queues; 0 while it is READY."""
    routes: dict[str, Any] = field(default_factory=dict)
    """Routes of the waiting requests by name."""
    paused: float = 0.0
    """Seconds of pauses of the crawl since the last attempt."""

    @property
    def waiting(self) -> int:
        """Number of requests that wait, in or outside the scheduler."""
        return self.queued + self.waits

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        is_awaited = self.waits or self.holds or self.waiters
        return self.state is QueueState.READY and not (self.fetch or is_awaited)


class LiveOrigins(dict["Origin", LiveOrigin]):
    """The live origins of one crawler."""

    def use(self, origin: Origin) -> LiveOrigin:
        """The state of *origin*, created on first use; call :meth:`settle` afterwards."""
        if origin not in self:
            self[origin] = LiveOrigin(origin)
        return self[origin]

    def settle(self, live: LiveOrigin) -> None:
        """Delete *live* if it is idle."""
        if live.is_idle and self.get(live.origin) is live:
            del self[live.origin]


def fire(waiter: Deferred[None]) -> None:
    """Fire *waiter*, unless it has fired."""
    if not waiter.called:
        waiter.callback(None)
