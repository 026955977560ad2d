"""Work that ends in time, too late or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.plugin.fetching.attempt import TimeLimitError, with_time_limit
from tests.support.timers import call_later


class Limited:
    """Work with a limit of 30 s; *stubborn* work ignores that it is cancelled."""

    def __init__(self, *, stubborn: bool) -> None:
        self.clock = Clock()
        self.work: Deferred[str] = Deferred()
        if stubborn:
            self.work = Deferred(lambda cancelled: cancelled.callback(""))
            self.work.addCallback(lambda result: Deferred())
        self.result = with_time_limit(self.work, 30.0, call_later(self.clock))
        self.came: list[Any] = []
        self.result.addBoth(self.came.append)


ENDS: list[tuple[str, Callable[[Limited], object], type[BaseException]]] = [
    ("its error", lambda it: it.work.errback(ZeroDivisionError()), ZeroDivisionError),
    ("another cancels it", lambda it: it.work.cancel(), IgnoreRequest),
    ("too late", lambda it: it.clock.advance(30.0), TimeLimitError),
    ("cancelled", lambda it: it.result.cancel(), CancelledError),
]


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize(("end", "error"), [each[1:] for each in ENDS], ids=[e[0] for e in ENDS])
def test_work_fails_at_once_and_leaves_no_timer(
    end: Callable[[Limited], object], error: type[BaseException], stubborn: bool
) -> None:
    """Work that ignores being cancelled delays nothing."""
    if stubborn and error is IgnoreRequest:
        pytest.skip("it ignores that too")
    limited = Limited(stubborn=stubborn)
    end(limited)
    (failure,) = limited.came
    assert failure.type is error
    assert limited.clock.getDelayedCalls() == []
    if error in (TimeLimitError, CancelledError):
        assert stubborn or limited.work.called


def test_work_in_time_passes_its_result_and_leaves_no_timer() -> None:
    limited = Limited(stubborn=False)
    limited.clock.advance(29.0)
    limited.work.callback("file")
    assert limited.came == ["file"]
    assert limited.clock.getDelayedCalls() == []
