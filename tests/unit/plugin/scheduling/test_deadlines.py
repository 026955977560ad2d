"""Deadlines: one delayed call, and a clock that does not only go forward."""

from __future__ import annotations

import math

import pytest
from twisted.internet.task import Clock

from scrapy_robotspec.plugin.scheduling.deadlines import Deadlines

START = 1_800_000_000.0


class Harness:
    """Deadlines with a clock that can be set; delayed calls do not follow it."""

    def __init__(self) -> None:
        self.time = Clock()
        self.put_back = 0.0
        self.expired: list[tuple[str, int]] = []
        self.deadlines: Deadlines[str, int] = Deadlines(
            self.clock, self.time.callLater, lambda key, value: self.expired.append((key, value))
        )

    def clock(self) -> float:
        return START + float(self.time.seconds()) - self.put_back


def test_key_expires_once_at_its_time_with_its_value() -> None:
    harness = Harness()
    harness.deadlines.set("a", START + 3, 1)
    harness.deadlines.set("b", START + 2, 2)
    harness.time.advance(1.9)
    assert harness.expired == []
    harness.time.advance(0.2)
    assert harness.expired == [("b", 2)]
    harness.time.advance(100)
    assert harness.expired == [("b", 2), ("a", 1)]


def test_replaced_and_discarded_deadlines_do_not_expire() -> None:
    harness = Harness()
    harness.deadlines.set("a", START + 3, 1)
    harness.deadlines.set("a", START + 5, 2)
    harness.deadlines.set("b", START + 3, 3)
    harness.deadlines.discard("b")
    harness.deadlines.set("c", START + 3, 4)
    harness.deadlines.set("c", math.inf, 5)
    harness.time.advance(4)
    assert harness.expired == []
    harness.time.advance(100)
    assert harness.expired == [("a", 2)]


def test_ten_thousand_keys_use_one_delayed_call() -> None:
    harness = Harness()
    for number in range(10_000):
        harness.deadlines.set(str(number), START + 10_000 - number, number)
    assert len(harness.time.getDelayedCalls()) == 1
    harness.time.advance(10_000)
    assert len(harness.expired) == 10_000
    assert harness.time.getDelayedCalls() == []


@pytest.mark.parametrize("back", [3600.0, 1e9, -1e9])
def test_clock_that_is_set_makes_no_key_wait_longer(back: float) -> None:
    """An hour back at the wrong moment must not mean an hour of waiting."""
    harness = Harness()
    harness.deadlines.set("a", START + 5, 1)
    harness.deadlines.set("b", START + 20, 2)
    harness.put_back = back
    harness.time.advance(20)
    assert sorted(harness.expired) == [("a", 1), ("b", 2)]


def test_deadline_of_the_new_time_does_not_hide_that_the_clock_was_set_back() -> None:
    harness = Harness()
    harness.deadlines.set("a", harness.clock() + 5, 1)
    harness.put_back = 86_400.0
    harness.deadlines.set("b", harness.clock() + 1, 2)
    harness.time.advance(1)
    harness.deadlines.set("b", harness.clock() + 1, 3)
    harness.time.advance(20)
    assert {key for key, _ in harness.expired} == {"a", "b"}


def test_clock_that_is_set_forward_is_noticed_within_seconds() -> None:
    """A delayed call does not follow the clock."""
    harness = Harness()
    harness.deadlines.set("a", harness.clock() + 86_000, 1)
    harness.put_back = -86_400.0
    harness.time.advance(20)
    assert harness.expired == [("a", 1)]


def test_closed_deadlines_make_no_calls() -> None:
    harness = Harness()
    harness.deadlines.set("a", START + 5, 1)
    harness.deadlines.close()
    assert harness.time.getDelayedCalls() == []


def test_an_error_leaves_the_other_keys() -> None:
    """No later deadline has to be set before they expire."""
    time, expired = Clock(), []

    def on_expired(key: str, value: int) -> None:
        expired.append(key)
        raise ZeroDivisionError

    deadlines: Deadlines[str, int] = Deadlines(time.seconds, time.callLater, on_expired)
    for key in "abc":
        deadlines.set(key, 3.0, 0)
    for _ in "abc":
        with pytest.raises(ZeroDivisionError):
            time.advance(3.0)
    assert expired == ["a", "b", "c"]
    assert time.getDelayedCalls() == []
