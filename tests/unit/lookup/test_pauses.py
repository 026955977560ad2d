"""Pauses of a crawl: what waits begins no attempt, and no hold passes."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.policy import Action
from tests.unit.lookup.fakes import DOWN, FILE, A, LookupHarness, Waiter

HOLD = 60.0
#: Longer than a hold, and than the time after which a failure says nothing any more (seconds).
LONG = 10 * HOLD


def page(harness: LookupHarness) -> Waiter:
    """A page of a crawl that waits."""
    harness.live.use(A).waits += 1
    return harness.wait_for(in_pauses=False)


def held() -> tuple[LookupHarness, Waiter]:
    """A page that waits after a server error, 20 s ago."""
    harness = LookupHarness(hold_timeout=HOLD, retry_delay=25.0, retry_max_delay=25.0)
    waiter = page(harness)
    harness.answer(DOWN)
    harness.pass_time(20.0)
    harness.lookup.tick(20.0)
    return harness, waiter


def pause(harness: LookupHarness, seconds: float) -> None:
    """Let the crawl pause for *seconds*."""
    harness.is_paused = True
    for _ in range(4):
        harness.pass_time(seconds / 4)
        harness.lookup.tick(seconds / 4)
    assert not harness.fetching
    harness.is_paused = False
    harness.lookup.tick(0.0)


@pytest.mark.parametrize("seconds", [30.0, LONG])
def test_a_hold_has_as_much_time_after_a_pause(seconds: float) -> None:
    """40 s are left: the attempt as the pause ends, another 25 s later, the last after 40 s."""
    harness, waiter = held()
    pause(harness, seconds)
    for left in (25.0, 15.0):
        harness.answer(DOWN)
        assert waiter.came == []
        harness.pass_time(left)
    harness.answer(DOWN)
    assert waiter.known.action is Action.REFUSE


def test_a_pause_between_two_attempts_counts_too() -> None:
    harness, _ = held()
    pause(harness, 4.0)
    harness.pass_time(1.0)
    record = harness.memory.get(A)
    harness.answer(DOWN)
    again = harness.memory.get(A)
    assert record is not None
    assert again is not None
    assert record.unreachable_since is not None
    assert again.unreachable_since == record.unreachable_since + 4.0


def test_what_the_spider_asks_is_answered_in_a_pause() -> None:
    harness = LookupHarness()
    harness.is_paused = True
    waiter, question = page(harness), harness.wait_for()
    harness.answer(FILE)
    assert question.known.action is Action.RULES
    assert waiter.came == []


def test_a_pause_that_no_tick_has_seen_holds_nothing_up_for_ever() -> None:
    harness = LookupHarness()
    harness.is_paused = True
    waiter = page(harness)
    harness.is_paused = False
    assert not harness.fetching
    harness.lookup.tick(0.1)
    harness.answer(FILE)
    assert waiter.known.action is Action.RULES


def test_a_pause_before_an_outage_does_not_count() -> None:
    """The hold begins after it, with the failure of the attempt that was under way."""
    harness = LookupHarness(hold_timeout=HOLD, retry_delay=HOLD, retry_max_delay=HOLD)
    waiter = page(harness)
    harness.is_paused = True
    harness.lookup.tick(LONG)
    harness.is_paused = False
    harness.lookup.tick(0.0)
    harness.answer(DOWN)
    harness.pass_time(HOLD)
    harness.answer(DOWN)
    assert waiter.known.action is Action.REFUSE


def test_a_lookup_that_closes_ends_waits_in_a_pause() -> None:
    harness = LookupHarness()
    harness.is_paused = True
    waiter = page(harness)
    harness.lookup.stop()
    assert len(waiter.came) == 1
