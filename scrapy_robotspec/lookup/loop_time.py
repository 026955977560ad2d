"""LoopTime: seconds in which the event loop could read what servers sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LoopTime:
    """Counts seconds in which the event loop could read.

    While the time is used, a tick is due every ``TICK`` seconds. A late tick counts once: the
    process was busy, starved or stopped meanwhile, and read nothing. By the clock a time limit is
    stretched at most ``STRETCH`` times. *monotonic* returns seconds.
    """

    TICK = 0.1
    STRETCH = 10
    #: More seconds than this between two ticks show that the process is starved, until ticks have
    #: come in time for ``RECOVERY`` counted seconds.
    LATE = 0.5
    RECOVERY = 1.0

    def __init__(self, monotonic: Callable[[], float], call_later: Callable[..., Any]) -> None:
        self._monotonic = monotonic
        self._call_later = call_later
        self._users = 0
        self._timer: Any = None
        self._counted = 0.0
        """Seconds counted until the last tick."""
        self._ticked_at = 0.0
        self._late_until = 0.0
        self._limits: dict[Limit, None] = {}

    def now(self) -> float:
        """The counted seconds; they stand still while nothing uses them."""
        return self._counted + self._since_tick()

    def late_until(self) -> float:
        """When the process counts as starved no more, in counted seconds."""
        if self._users and self._monotonic() - self._ticked_at > self.LATE:
            return self.now() + self.RECOVERY
        return self._late_until

    def add_user(self) -> None:
        """Count until :meth:`remove_user` is called as often as this."""
        self._users += 1
        if self._users == 1:
            self._ticked_at = self._monotonic()
            self._timer = self._call_later(self.TICK, self._tick)

    def remove_user(self) -> None:
        """The opposite of :meth:`add_user`."""
        if self._users == 1:
            self._counted = self.now()
            self._timer.cancel()
        self._users -= 1

    def call_later(self, seconds: float, call: Callable[[], object]) -> Limit:
        """Call *call* once *seconds* have been counted.

        The event loop reads once more before it.
        """
        limit = Limit(self, self.now() + seconds, call)
        self._limits[limit] = None
        self.add_user()
        return limit

    def end(self, limit: Limit) -> None:
        """Forget *limit*, if it is known."""
        if limit in self._limits:
            del self._limits[limit]
            self.remove_user()

    def _since_tick(self) -> float:
        if not self._users:
            return 0.0
        passed = self._monotonic() - self._ticked_at
        return max(min(passed, self.TICK), passed / self.STRETCH)

    def _tick(self) -> None:
        late_until = self.late_until()
        # The event loop has read since these were over.
        over = [limit for limit in self._limits if limit.at <= self._counted]
        self._counted = self.now()
        self._ticked_at = self._monotonic()
        self._late_until = late_until
        self._timer = self._call_later(self.TICK, self._tick)
        for limit in over:
            if limit in self._limits:
                self.end(limit)
                limit.call()


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """A delayed call."""

    time: LoopTime
    at: float
    """Counted seconds."""
    call: Callable[[], object]

    def cancel(self) -> None:
        """Do not make the call; after it nothing happens."""
        self.time.end(self)
