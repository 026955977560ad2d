"""The state of an origin: made on first use, gone when nothing is under way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.lookup.live_origins import (
    MIN_PAUSE,
    LiveOrigin,
    LiveOrigins,
    QueueState,
    fire,
    pause,
)
from tests.support.timers import call_later

from .fakes import A, B

#: What is under way -> the change by which it begins.
BUSY: dict[str, Callable[[LiveOrigin], object]] = {
    "a fetch": lambda live: setattr(live, "fetch", Deferred()),
    "a waiter": lambda live: live.waiters.update({Deferred(): None}),
    "a wait": lambda live: setattr(live, "waits", 1),
    "a held request": lambda live: setattr(live, "holds", 1),
    "a queue": lambda live: setattr(live, "state", QueueState.HELD),
}


@pytest.mark.parametrize("begins", BUSY.values(), ids=BUSY)
def test_an_origin_stays_while_anything_is_under_way(
    begins: Callable[[LiveOrigin], object],
) -> None:
    origins = LiveOrigins()
    live, other = origins.use(A), origins.use(B)
    begins(live)
    for each in (live, other):
        origins.settle(each)
    assert origins == {A: live}
    assert origins.use(A) is live


def test_an_origin_that_was_made_again_is_not_deleted_with_the_old_one() -> None:
    origins = LiveOrigins()
    old = origins.use(A)
    origins.settle(old)
    new = origins.use(A)
    origins.settle(old)
    assert origins == {A: new}


@pytest.mark.parametrize("seconds", [0.0, 5.0, float("inf")])
def test_a_pause_ends_with_its_time_or_its_waiter_and_leaves_no_timer(seconds: float) -> None:
    clock, waiters, ends = Clock(), [Deferred[None]() for _ in range(3)], list[object]()
    for waiter in waiters:
        pausing = Deferred.fromCoroutine(pause(call_later(clock), seconds, waiter))
        pausing.addBoth(lambda result: ends.append(getattr(result, "type", result)))
    fire(waiters[0])
    fire(waiters[0])
    waiters[1].cancel()
    assert ends == [None, CancelledError]
    clock.advance(max(MIN_PAUSE, min(seconds, 1e9)))
    assert len(ends) == (2 if seconds == float("inf") else 3)
    assert clock.getDelayedCalls() == []
