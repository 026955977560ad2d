"""When a page that was sent or arrived late moves the next slot of its origin."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling.sent_pages import SentPages, UsualLatency, margin

A = Origin("http", "a.example", 80)


class Pages:
    """Pages of one origin, and the times from which slots were counted anew."""

    def __init__(self, delay: float = 1.0) -> None:
        self.time = Clock()
        self.delay = delay
        self.latency = UsualLatency()
        self.counted_from: list[float] = []
        later: Any = self.time.callLater
        self.pages = SentPages(self.report, monotonic=self.time.seconds, call_later=later)

    def report(self, origin: Origin, age: float) -> None:
        assert origin == A
        self.counted_from.append(round(self.time.seconds() - age + margin(self.delay), 6))

    def go(self, *, sent_after: float = 0.0, answered_after: float | None = None) -> float:
        """Let a page go, and its delay pass; return when its slot began."""
        slot_at = float(self.time.seconds())
        request = Request("http://a.example/")
        self.pages.add(request, A, self.delay, slot_at, self.latency)
        self.time.advance(sent_after)
        self.pages.sent(request)
        self.time.advance(0)
        passed = sent_after
        if answered_after is not None:
            self.time.pump([answered_after / 100] * 100)
            passed += answered_after
            self.pages.answered(request)
        self.time.pump([0.01] * round(100 * (2 * self.delay - passed)))
        return slot_at

    def warm_up(self, *, seconds: float = 0.1) -> None:
        for _ in range(5):
            self.go(answered_after=seconds)
        self.counted_from.clear()


@pytest.fixture
def pages() -> Pages:
    return Pages()


def test_a_page_that_is_sent_and_answered_as_usual_moves_nothing(pages: Pages) -> None:
    pages.warm_up()
    pages.go(answered_after=0.1)
    assert pages.counted_from == []


def test_a_page_that_leaves_late_is_counted_from_then(pages: Pages) -> None:
    pages.warm_up()
    slot_at = pages.go(sent_after=0.3, answered_after=0.1)
    assert pages.counted_from == [pytest.approx(slot_at + 0.3)]


def test_a_delay_within_the_margin_of_the_slot_is_not_reported(pages: Pages) -> None:
    pages.warm_up()
    pages.go(sent_after=0.9 * margin(1.0), answered_after=0.1)
    assert pages.counted_from == []


def test_a_page_whose_response_is_late_is_counted_from_its_arrival(pages: Pages) -> None:
    """The usual time before the response: it had to connect, or the network was slow."""
    pages.warm_up(seconds=0.1)
    slot_at = pages.go(answered_after=0.4)
    assert pages.counted_from == [pytest.approx(slot_at + 0.3)]


def test_the_first_page_of_a_process_is_counted_from_its_response(pages: Pages) -> None:
    """Nothing to compare with: it may have arrived at any time before."""
    slot_at = pages.go(answered_after=0.4)
    assert pages.counted_from == [pytest.approx(slot_at + 0.4)]


def test_an_unanswered_page_is_counted_just_before_the_next_slot(pages: Pages) -> None:
    """And again before the slot after that."""
    pages.warm_up()
    slot_at = pages.go()
    passed = [counted - slot_at for counted in pages.counted_from]
    assert passed == pytest.approx([0.75, 1.5], abs=0.05)  # go() lets two delays pass


def test_pages_of_a_slow_server_are_not_waited_for(pages: Pages) -> None:
    """Its responses usually come after the next slot."""
    pages.warm_up(seconds=1.5)
    pages.go(answered_after=1.5)
    assert pages.counted_from == []


def test_a_page_that_fails_is_not_counted_and_no_measure_of_latency(pages: Pages) -> None:
    """A refused connection is quicker than any response."""
    pages.warm_up(seconds=0.2)
    request = Request("http://a.example/")
    pages.pages.add(request, A, 1.0, pages.time.seconds(), pages.latency)
    pages.pages.sent(request)
    pages.time.advance(0.001)
    pages.pages.left(request)
    pages.time.pump([0.01] * 200)
    pages.go(answered_after=0.2)
    assert pages.counted_from == []


def test_nothing_is_reported_after_the_end(pages: Pages) -> None:
    pages.warm_up()
    request = Request("http://a.example/")
    pages.pages.add(request, A, 1.0, pages.time.seconds() - 0.5, pages.latency)
    pages.pages.sent(request)
    pages.pages.close()
    pages.time.pump([0.01] * 200)
    assert pages.counted_from == []


def test_other_requests_are_ignored(pages: Pages) -> None:
    """Such as those of origins without a delay."""
    request = Request("http://b.example/")
    pages.pages.sent(request)
    pages.pages.answered(request)
    pages.pages.left(request)


@pytest.mark.parametrize("outliers", [0, 3])
def test_the_usual_latency_is_the_shortest_of_a_steady_server(outliers: int) -> None:
    """A few late arrivals are late, and change nothing."""
    latency = UsualLatency()
    for _ in range(outliers):
        latency.add(5.0, 1.0)
    for n in range(50):
        latency.add(0.1 + 0.001 * (n % 7), 1.0)
    assert latency.usual(1.0) == pytest.approx(0.1)


def test_varying_responses_cost_little_pace() -> None:
    """Between 0 and one delay: only the longest count as late."""
    latency, delay = UsualLatency(), 1.0
    latencies = [(n * 37 % 200) / 200 for n in range(200)]
    for seconds in latencies:
        latency.add(seconds, delay)
    usual = latency.usual(delay)
    assert 0.7 < usual < 0.9
    assert sum(max(0.0, seconds - usual) for seconds in latencies) <= 0.02 * 200


def test_a_server_that_has_become_slower_is_known_after_some_time() -> None:
    latency = UsualLatency()
    for seconds in (*[0.1] * 300, *[0.4] * 300):
        latency.add(seconds, 1.0)
    assert latency.usual(1.0) == pytest.approx(0.4)
