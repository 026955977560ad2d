"""Time limit: the outcome of work, or a failure after a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class TimeLimitError(Exception):
    """The work took too long."""


class AbortedError(Exception):
    """Another component cancelled the work."""


def with_time_limit(
    work: Deferred[_T], seconds: float, call_later: Callable[..., Any]
) -> Deferred[_T]:
    """The outcome of *work*, or :class:`TimeLimitError` after *seconds*.

    Then *work* is cancelled and its own outcome is dropped, so that work which ignores being
    cancelled delays nothing. Cancelling the result cancels *work* in the same way; nothing else
    makes it fail with ``CancelledError``.
    """
    is_over = False

    def stop(outcome: Deferred[_T]) -> None:
        nonlocal is_over
        is_over = True
        work.cancel()

    def expire() -> None:
        stop(outcome)
        outcome.errback(TimeLimitError())

    def pass_on(result: Any) -> None:
        if is_over:
            return
        if isinstance(result, Failure) and isinstance(result.value, CancelledError):
            outcome.errback(AbortedError("the request was cancelled"))
        else:
            outcome.callback(result)

    def end(result: _T | Failure) -> _T | Failure:
        timer.cancel()
        return result

    outcome: Deferred[_T] = Deferred(stop)
    timer = call_later(seconds, expire)
    outcome.addBoth(end)
    work.addBoth(pass_on)
    return outcome
