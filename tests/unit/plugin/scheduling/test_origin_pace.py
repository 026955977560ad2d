"""The table at the head of fleet_pace.py: what becomes of a process's pace at an origin."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.plugin.scheduling import fleet_pace as module
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace, OriginPace
from scrapy_robotspec.store.base import Reservation

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
        self.fleet = FleetPace(cast("Any", self), 0.0, lambda: self.now)
        self.pace = OriginPace(A, 1)

    def reserve(self, origin: object, asked: object) -> Reservation:
        return self.reply()

    def lost(self) -> Reservation:
        raise StoreError("gone")

    def granted(self) -> Reservation:
        return Reservation(True, self.now, self.now)

    def later(self) -> Reservation:
        return Reservation(False, self.now + 100, self.now)

    def ask(self, reply: Callable[[], Reservation]) -> None:
        if self.now < self.pace.ends:  # it asks at each slot of its own
            self.now = max(self.now, self.pace.own_slot)
        self.reply = reply
        with pytest.raises(StopIteration):
            self.fleet.reserve(self.pace, DELAY).send(None)

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


WAYS: dict[str, list[Callable[[Crawl], None]]] = {
    "NEW": [],
    "FREE": [lambda crawl: crawl.ask(crawl.granted)],
    "QUEUED": [lambda crawl: crawl.ask(crawl.later)],
    "GRANTED": [lambda crawl: crawl.ask(crawl.granted)] * 2,
    "LOST": [lambda crawl: crawl.ask(crawl.lost)],
    "BACK": [lambda crawl: crawl.ask(crawl.lost), lambda crawl: crawl.ask(crawl.granted)],
}
EVENTS: dict[str, Callable[[Crawl], None]] = {
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


def test_a_slot_that_no_page_may_use_is_free_again() -> None:
    crawl = Crawl()
    for step in WAYS["GRANTED"]:
        step(crawl)
    crawl.pace.give_up()
    assert crawl.state == "FREE"
