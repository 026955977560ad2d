"""Work that ends in time, too late or never."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.plugin.fetching.attempt import TimeLimitError, with_time_limit
from tests.support.timers import call_later


class Limited:
    """Work with a limit of 30 s; *stubborn* work ignores that it is cancelled."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.clock = Clock()
        self.cancelled = 0
        self.work: Deferred[str] = Deferred(self._on_cancel)
        self.after_cancelling: Deferred[str] = Deferred()
        if stubborn:
            self.work = Deferred(lambda cancelled: cancelled.callback(""))
            self.work.addCallback(lambda result: self.after_cancelling)
        self.came: list[Any] = []
        self.result = with_time_limit(self.work, 30.0, call_later(self.clock))
        self.result.addBoth(self.came.append)

    def _on_cancel(self, work: Deferred[str]) -> None:
        self.cancelled += 1

    @property
    def error(self) -> type[BaseException]:
        """The type of the one error that came."""
        (failure,) = self.came
        return type(failure.value)


def test_work_in_time_passes_its_result_and_leaves_no_timer() -> None:
    limited = Limited()
    limited.clock.advance(29.0)
    limited.work.callback("file")
    assert limited.came == ["file"]
    assert limited.clock.getDelayedCalls() == []


def test_an_error_in_time_is_passed_on() -> None:
    limited = Limited()
    limited.work.errback(ZeroDivisionError())
    assert limited.error is ZeroDivisionError
    assert limited.clock.getDelayedCalls() == []


def test_work_that_takes_too_long_is_cancelled() -> None:
    limited = Limited()
    limited.clock.advance(30.0)
    assert limited.error is TimeLimitError
    assert limited.cancelled == 1
    assert limited.clock.getDelayedCalls() == []


@pytest.mark.parametrize("late", ["file", ZeroDivisionError()])
def test_work_that_ignores_the_end_of_its_time_delays_nothing(late: Any) -> None:
    limited = Limited(stubborn=True)
    limited.clock.advance(30.0)
    assert limited.error is TimeLimitError
    work = limited.after_cancelling
    (work.errback if isinstance(late, Exception) else work.callback)(late)
    assert limited.error is TimeLimitError


@pytest.mark.parametrize("stubborn", [False, True])
def test_cancelling_from_outside_ends_at_once(stubborn: bool) -> None:
    limited = Limited(stubborn=stubborn)
    limited.result.cancel()
    assert limited.error is CancelledError
    assert limited.clock.getDelayedCalls() == []


def test_work_that_somebody_else_cancels_has_failed() -> None:
    limited = Limited()
    limited.work.cancel()
    assert limited.error is IgnoreRequest
    assert limited.clock.getDelayedCalls() == []
