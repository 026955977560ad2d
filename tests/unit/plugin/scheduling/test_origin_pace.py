"""The table at the head of fleet_pace.py: what becomes of a process's pace at an origin."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from twisted.internet.defer import Deferred

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.plugin.scheduling import fleet_pace as module
from scrapy_robotspec.plugin.scheduling.fleet_pace import Due, FleetPace, OriginPace
from scrapy_robotspec.store.base import HORIZON, Reservation

from .fakes import A

DELAY = 1.0
STATES = ("NEW", "FREE", "QUEUED", "GRANTED", "LOST", "BACK")
HEAD, *ROWS = (module.__doc__ or "").partition("    event ")[2].splitlines()
TABLE = {line[4:30].strip(): re.findall(r"[A-Z]{3,}|(?<!\S)-(?!\S)", line[30:]) for line in ROWS}


class Crawl:
    """A pace, a clock, and the store's next reply."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reply: Callable[[], Reservation] = self.lost
        self.fleet = FleetPace(cast("Any", self), 0.0, lambda: self.now, self.call_later)
        self.pace = OriginPace(A, 1)

    def reserve(self, origin: object, asked: object) -> Reservation:
        return self.reply()

    def call_later(self, seconds: float, call: Callable[[], object]) -> Deferred[None]:
        """A timer, which can be cancelled."""
        return Deferred()

    def lost(self) -> Reservation:
        raise StoreError("gone")

    def granted(self) -> Reservation:
        return Reservation(True, self.now, self.now)

    def later(self) -> Reservation:
        return Reservation(False, self.now + 100, self.now)

    def ask(self, reply: Callable[[], Reservation]) -> Due:
        if self.now < self.pace.ends:  # it asks at each slot of its own, or before
            is_lost = self.pace.ends == math.inf
            self.now = max(self.now, self.pace.own_slot - (HORIZON if is_lost else 0))
        self.reply = reply
        with pytest.raises(StopIteration) as end:
            self.fleet.reserve(self.pace, DELAY).send(None)
        due: Due = end.value.value
        return due

    def page(self) -> None:
        """A page goes with the slot."""
        self.fleet.note_page(self.pace, self.now, DELAY)

    def recover(self) -> None:
        self.now += module._RECOVERY

    @property
    def state(self) -> str:
        pace = self.pace
        if pace.ends == math.inf:
            return "LOST"
        if self.now < pace.ends:
            return "BACK"
        if not pace.readings:
            return "NEW"
        if pace.slot:
            return "GRANTED"
        return "QUEUED" if pace.position else "FREE"


WAYS: dict[str, list[Callable[[Crawl], object]]] = {
    "NEW": [],
    "FREE": [lambda crawl: crawl.ask(crawl.granted)],
    "QUEUED": [lambda crawl: crawl.ask(crawl.later)],
    "GRANTED": [lambda crawl: crawl.ask(crawl.granted)] * 2,
    "LOST": [lambda crawl: crawl.ask(crawl.lost)],
    "BACK": [lambda crawl: crawl.ask(crawl.lost), lambda crawl: crawl.ask(crawl.granted)],
}
EVENTS: dict[str, Callable[[Crawl], object]] = {
    "reply: a slot": lambda crawl: crawl.ask(crawl.granted),
    "reply: a later slot": lambda crawl: crawl.ask(crawl.later),
    "no reply": lambda crawl: crawl.ask(crawl.lost),
    "a page goes, or none may": Crawl.page,
    "``_RECOVERY`` has passed": Crawl.recover,
}


def test_the_table_has_every_event_and_state() -> None:
    assert re.findall("[A-Z]+", HEAD) == list(STATES)
    assert {event: len(TABLE[event]) for event in EVENTS} == dict.fromkeys(EVENTS, 6)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("event", EVENTS)
def test_the_table_is_what_happens(event: str, state: str) -> None:
    target = TABLE[event][STATES.index(state)]
    crawl = Crawl()
    for step in WAYS[state]:
        step(crawl)
    assert crawl.state == state
    if target == "-" and event != "``_RECOVERY`` has passed":
        return  # it cannot happen
    EVENTS[event](crawl)
    assert crawl.state == (state if target == "-" else target)


def crawl_in(state: str) -> Crawl:
    crawl = Crawl()
    for step in WAYS[state]:
        step(crawl)
    assert crawl.state == state
    return crawl


def test_a_slot_that_no_page_may_use_is_free_again() -> None:
    crawl = crawl_in("GRANTED")
    crawl.pace.give_up()
    assert crawl.state == "FREE"


@pytest.mark.parametrize(
    ("after", "own_slot"), [(9.0, 10.0), (10.0, 12.0), (11.0, 12.0), (13.5, 14.0), (14.0, 16.0)]
)
def test_own_slots_are_one_period_apart(after: float, own_slot: float) -> None:
    """Two processes share the origin."""
    pace = OriginPace(A, 2, own_slot=10.0)
    pace.find_own_slot(after, 1.0)
    assert pace.own_slot == own_slot


def test_at_the_end_of_an_outage_the_store_alone_has_the_slots() -> None:
    crawl = crawl_in("BACK")
    crawl.recover()
    assert crawl.now == crawl.pace.ends
    crawl.ask(crawl.later)
    assert crawl.state == "QUEUED"


@pytest.mark.parametrize("reply", [Crawl.granted, Crawl.later])
def test_the_first_reply_of_all_brings_no_slot_before_an_outage_has_ended(
    reply: Callable[[Crawl], Reservation],
) -> None:
    crawl = crawl_in("LOST")
    due = crawl.ask(lambda: reply(crawl))
    assert due == (False, crawl.now + module._RECOVERY)


def test_a_store_that_is_lost_is_tried_again_before_the_first_own_slot() -> None:
    """Then each own slot is used in its time."""
    crawl = Crawl()
    due = crawl.ask(crawl.lost)
    assert due == (False, crawl.now + module._RETRY - HORIZON)
    assert crawl.ask(crawl.lost) == (True, due.at + HORIZON)


@pytest.mark.parametrize(
    ("seconds", "processes"),
    [(0.0, 4), (module._RECOVERY - 1, 4), (module._RECOVERY, 1), (module._RECOVERY + 1, 1)],
)
def test_processes_that_an_outage_hides_count_until_they_are_seen(
    seconds: float, processes: int
) -> None:
    """The first one back sees none of the others."""
    crawl = crawl_in("BACK")
    crawl.pace.processes = 4
    crawl.now = crawl.pace.ends + seconds
    crawl.ask(crawl.granted)
    assert crawl.pace.processes == crawl.fleet.processes == processes


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_after_a_long_time_with_the_store_own_slots_begin_anew(seconds: float) -> None:
    crawl = crawl_in("BACK")
    crawl.pace.processes = 4
    crawl.now = crawl.pace.ends + module._RECOVERY + seconds
    assert crawl.ask(crawl.lost) == (False, crawl.pace.own_slot - HORIZON)
    assert module._RETRY <= crawl.pace.own_slot - crawl.now <= module._RETRY + 5 * DELAY
