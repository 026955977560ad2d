"""LoopTime: seconds in which the event loop could read what servers sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class TimeLimitError(Exception):
    """The work took too long."""


class InterruptionError(Exception):
    """The work was cancelled by another component."""


@dataclass(eq=False)
class LoopTime:
    """Counts seconds in which the event loop could read.

    While the time is used, a tick is due every ``TICK`` seconds. A late tick counts once: the
    process was busy, starved or stopped meanwhile, and read nothing. By the clock a time limit is
    stretched at most ``STRETCH`` times. *monotonic* returns seconds; *call_later* takes seconds and
    a function, and returns an object with ``cancel()``.
    """

    TICK = 0.1
    STRETCH = 10
    #: More seconds than this between two ticks show that the process is starved, until ticks have
    #: come in time for ``RECOVERY`` counted seconds.
    LATE = 0.5
    RECOVERY = 1.0

    monotonic: Callable[[], float]
    call_later: Callable[..., Any]
    _users: int = 0
    _timer: Any = None
    _counted: float = 0.0
    """Seconds counted until the last tick."""
    _ticked_at: float = 0.0
    _late_until: float = 0.0
    _limited: dict[Deferred[Any], tuple[float, Deferred[Any]]] = field(default_factory=dict)
    """Outcomes of limited work -> the end of its time (counted seconds), and the work."""

    def now(self) -> float:
        """The counted seconds; they stand still while nothing uses them."""
        if not self._users:
            return self._counted
        passed = self.monotonic() - self._ticked_at
        return self._counted + max(min(passed, self.TICK), passed / self.STRETCH)

    def late_until(self) -> float:
        """When the process counts as starved no more, in counted seconds."""
        if self._users and self.monotonic() - self._ticked_at > self.LATE:
            return self.now() + self.RECOVERY
        return self._late_until

    def add_user(self) -> None:
        """Count until :meth:`remove_user` is called as often as this."""
        self._users += 1
        if self._users == 1:
            self._ticked_at = self.monotonic()
            self._timer = self.call_later(self.TICK, self._tick)

    def remove_user(self) -> None:
        """The opposite of :meth:`add_user`."""
        if self._users == 1:
            self._counted = self.now()
            self._timer.cancel()
        self._users -= 1

    def limit(self, work: Deferred[_T], seconds: float) -> Deferred[_T]:
        """The outcome of *work*, or ``TimeLimitError`` once *seconds* have been counted.

        The event loop reads once more before that. Then *work* is cancelled and its own outcome is
        dropped, so that work which ignores being cancelled delays nothing. Cancelling the result
        cancels *work* in the same way; if something else cancels *work*, the result is an
        ``InterruptionError``.
        """
        outcome: Deferred[_T] = Deferred(lambda _: self._end(outcome, CancelledError()))
        self._limited[outcome] = self.now() + seconds, work
        self.add_user()
        work.addBoth(self._pass_on, outcome)
        return outcome

    def _pass_on(self, result: Any, outcome: Deferred[Any]) -> None:
        if isinstance(result, Failure):
            result = result.value
            if isinstance(result, CancelledError):
                result = InterruptionError("another component has cancelled it")
        self._end(outcome, result)

    def _end(self, outcome: Deferred[Any], result: Any) -> None:
        """End *outcome* with *result*, an error or not, unless it has ended."""
        if outcome not in self._limited:
            return
        _, work = self._limited.pop(outcome)
        self.remove_user()
        if isinstance(result, BaseException):
            outcome.errback(result)
        else:
            outcome.callback(result)
        work.cancel()

    def _tick(self) -> None:
        late_until = self.late_until()
        # The event loop has read since these were over.
        over = [outcome for outcome, (at, _) in self._limited.items() if at <= self._counted]
        self._counted = self.now()
        self._ticked_at = self.monotonic()
        self._late_until = late_until
        self._timer = self.call_later(self.TICK, self._tick)
        for outcome in over:
            self._end(outcome, TimeLimitError())
