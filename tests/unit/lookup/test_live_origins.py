"""The state of an origin: made on first use, gone when nothing is under way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup.live_origins import (
    LiveOrigin,
    LiveOrigins,
    QueueState,
)

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
