"""Requests of one process that wait for slots: which goes, and when (EXT-01)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from scrapy import Request
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from tests.support.fleet_simulation import ORIGIN, Fleet, Process


class Waiting:
    """Requests of a process that end up in ``went``, or in ``returned`` to be decided again."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.went: list[tuple[str, float]] = []
        self.returned: list[str] = []

    def add(self, path: str, priority: int = 0, ahead: float = 0.0) -> Deferred[Any]:
        request = Request(f"http://a.example/{path}", priority=priority)
        process = self.process
        turn = process.crawl_delay.pace(request, ORIGIN, process.delay, ahead)
        return turn.addCallback(self._end, path)

    def _end(self, goes: bool, path: str) -> None:
        if goes:
            self.went.append((path, self.process.fleet.time.now))
        else:
            self.returned.append(path)

    @property
    def paths(self) -> str:
        return "".join(path for path, _ in self.went)

    @property
    def gaps(self) -> list[float]:
        times = [at for _, at in self.went]
        return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.fixture
def fleet() -> Fleet:
    return Fleet(delay=1.0)


@pytest.fixture
def waiting(fleet: Fleet) -> Waiting:
    return Waiting(Process(fleet))


def test_the_best_priority_goes_first_and_equal_ones_in_their_order(
    fleet: Fleet, waiting: Waiting
) -> None:
    for path in "abc":
        waiting.add(path)
    waiting.add("d", priority=5)
    fleet.run(0.5)
    waiting.add("e", priority=5)
    fleet.run(10)
    assert waiting.paths == "deabc"
    assert min(waiting.gaps) >= 1


def test_a_download_slot_expects_each_page_that_comes(fleet: Fleet, waiting: Waiting) -> None:
    """No other page is let go to it meanwhile."""
    for path in "ab":
        waiting.add(path)
    fleet.run(0.5)
    assert waiting.process.let_gone == ["http://a.example/a"]
    fleet.run(10)
    assert len(waiting.process.let_gone) == 2


def test_robots_txt_counts_as_a_page(fleet: Fleet, waiting: Waiting) -> None:
    waiting.add("a", ahead=0.7)
    fleet.run(0.69)
    assert waiting.paths == ""
    fleet.run(0.1)
    assert waiting.paths == "a"


def test_a_page_that_would_leave_too_late_gives_its_slot_up() -> None:
    """The next page is on time: they would be closer than the delay."""
    fleet = Fleet(delay=1.0, jitter=0.5)
    late = Waiting(Process(fleet))
    for number in range(20):
        late.add(str(number))
    fleet.run(200)
    assert len(late.went) == 20
    assert min(late.gaps) >= 1


def test_a_robots_txt_of_this_moment_delays_a_page_by_the_whole_delay(
    fleet: Fleet, waiting: Waiting
) -> None:
    waiting.add("a", ahead=1.0)
    fleet.run(0.99)
    assert waiting.paths == ""
    fleet.run(0.1)
    assert waiting.paths == "a"


@pytest.mark.parametrize("ahead", [1.5, 3600.0])
def test_a_robots_txt_from_the_future_delays_nothing(
    fleet: Fleet, waiting: Waiting, ahead: float
) -> None:
    """Another machine fetched it, and its clock is wrong."""
    waiting.add("a", ahead=ahead)
    fleet.run(0.1)
    assert waiting.paths == "a"


def test_a_request_that_arrives_after_the_delay_goes_at_once(
    fleet: Fleet, waiting: Waiting
) -> None:
    waiting.add("a")
    fleet.run(30)
    waiting.add("b")
    fleet.run(0.02)
    assert waiting.paths == "ab"


def test_a_request_may_be_cancelled_because_another_one_is_dismissed(
    fleet: Fleet, waiting: Waiting, caplog: pytest.LogCaptureFixture
) -> None:
    """As where an errback stops the crawl: the slot goes to the next one all the same."""
    waiting.add("first")
    fleet.run(0.5)
    dismissed, cancelled, _ = (waiting.add(path) for path in ("a", "b", "c"))
    dismissed.addCallback(lambda _: cancelled.cancel())
    cancelled.addErrback(lambda _: None)
    waiting.process.allowed = lambda request: request.url.endswith("c")
    fleet.run(1)
    assert (waiting.paths, waiting.returned) == ("firstc", ["a"])
    assert not caplog.records


def test_processes_seen_at_one_origin_count_at_a_new_one(fleet: Fleet) -> None:
    """A store that is lost then gives the new origin no slots: each process has its own."""
    process = fleet.start(4)[0]
    fleet.run(30)
    other = Origin("http", "other.example", 80)
    process.crawl_delay.pace(Request("http://other.example/"), other, 1.0)
    assert process.crawl_delay._paces[other].processes == 4


def test_a_page_that_left_late_counts_after_its_origin_was_idle(
    fleet: Fleet, waiting: Waiting
) -> None:
    """The store knows its slot alone, not when it left."""
    waiting.add("a")
    fleet.run(0.9)
    waiting.process.crawl_delay.note_sent(ORIGIN)
    fleet.run(0.3)
    waiting.add("b")
    fleet.run(2)
    assert waiting.paths == "ab"
    assert waiting.went[1][1] >= 1.9


def test_an_idle_origin_is_forgotten(fleet: Fleet, waiting: Waiting) -> None:
    waiting.add("a")
    fleet.run(30)
    assert waiting.process.crawl_delay._paces == {}


def test_a_request_that_is_cancelled_takes_no_slot(fleet: Fleet, waiting: Waiting) -> None:
    waiting.add("a")
    waiting.add("b").addErrback(lambda failure: None).cancel()
    waiting.add("c")
    fleet.run(1.1)
    assert waiting.paths == "ac"


def test_a_refused_request_takes_no_slot(fleet: Fleet, waiting: Waiting) -> None:
    """Its rules changed while it waited. The slot goes to the next request."""
    process = waiting.process
    for path in "abcdef":
        waiting.add(path)
    fleet.run(0.5)
    process.allowed = lambda request: request.url[-1] not in "bcd"
    fleet.run(0.6)
    assert waiting.paths == "ae"
    assert waiting.returned == ["b", "c", "d"]
    assert waiting.gaps[0] <= 1.1


def test_no_slot_is_asked_for_a_request_that_has_been_refused_meanwhile(
    fleet: Fleet, waiting: Waiting
) -> None:
    """Another process could use it."""
    waiting.add("a")
    fleet.run(0.01)
    waiting.process.crawl_delay.note_sent(ORIGIN)
    waiting.add("b")
    fleet.run(0.5)
    waiting.process.allowed = lambda request: False
    calls = fleet.store.calls
    fleet.run(2)
    assert waiting.returned == ["b"]
    assert fleet.store.calls == calls


def test_an_error_is_logged_and_the_requests_wait_on(
    fleet: Fleet, waiting: Waiting, caplog: pytest.LogCaptureFixture
) -> None:
    """It is tried again each second."""
    is_broken = True

    def allowed(request: Request) -> bool:
        if is_broken:
            raise RuntimeError("of a component")
        return True

    waiting.process.allowed = allowed
    waiting.add("a")
    fleet.run(3.5)
    assert caplog.messages == [f"Error in the crawl delay of {ORIGIN}"] * 4
    is_broken = False
    fleet.run(1)
    assert waiting.paths == "a"


def test_no_slot_is_asked_for_while_the_downloader_would_keep_the_request(
    fleet: Fleet, waiting: Waiting
) -> None:
    """DOWNLOAD_DELAY, AutoThrottle, or as many transfers as may be: its slot would pass unused."""
    waiting.process.full_until = 20.0
    waiting.add("a")
    fleet.run(19)
    assert fleet.store.calls == 0
    fleet.run(2)
    assert waiting.paths == "a"


def test_a_slot_whose_download_slot_is_full_is_given_up(fleet: Fleet, waiting: Waiting) -> None:
    """And the next one is not the later for it."""
    waiting.add("a")
    waiting.add("b")
    fleet.run(0.9)
    waiting.process.full_until = 1.2
    fleet.run(0.4)
    assert waiting.paths == "ab"
    assert waiting.went[1][1] >= 1.2


@pytest.mark.parametrize("ends", ["it goes", "it is cancelled", "it is decided again"])
def test_a_busy_download_slot_is_kept_for_a_page_that_is_due(
    fleet: Fleet, waiting: Waiting, ends: str
) -> None:
    """Not before its delay has passed, and no longer than the page waits."""
    crawl_delay, process = waiting.process.crawl_delay, waiting.process
    waiting.add("a")
    fleet.run(0.01)
    crawl_delay.note_sent(ORIGIN)
    page = waiting.add("b").addErrback(lambda _: None)
    process.full_until = 1.9
    fleet.run(0.9)
    assert waiting.paths == "a"
    assert not crawl_delay.due_slots
    fleet.run(0.8)
    assert list(crawl_delay.due_slots) == ["a.example"]
    woken = process.wakes
    if ends == "it is cancelled":
        page.cancel()
    elif ends == "it is decided again":
        process.allowed = lambda request: False
    fleet.run(0.5)
    assert waiting.paths == ("ab" if ends == "it goes" else "a")
    assert not crawl_delay.due_slots
    assert process.wakes == woken + 1


def test_pages_due_in_a_busy_download_slot_go_one_after_the_other(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are due later wait until others had their turn."""
    process = Process(fleet)
    crawl_delay, went = process.crawl_delay, list[str]()

    def add(url: str) -> None:
        origin = Origin.of(url)
        assert origin is not None

        def goes(_: bool) -> None:
            went.append(url)
            crawl_delay.note_sent(origin)

        crawl_delay.pace(Request(url), origin, process.delay).addCallback(goes)

    def fill(request: Request) -> None:
        process.full_until = fleet.time.now + 1.0

    for _ in range(2):
        add("http://a.example/")
        add("https://a.example/")
    fleet.run(0.1)
    assert len(went) == 2
    monkeypatch.setattr(process, "let_go", fill)
    process.full_until = 1.5
    fleet.run(1.2)
    (due,) = crawl_delay.due_slots.values()
    assert len(due.paces) == 2
    fleet.run(0.4)
    assert len(went) == 3
    add("http://a.example:81/")
    fleet.run(0.1)
    assert len(due.paces) == 1
    process.full_until = 0.0
    crawl_delay.note_left(Request("http://a.example/other"))
    fleet.run(0.1)
    assert len(went) == 4
    assert not due.paces
    assert not crawl_delay.due_slots
    fleet.run(3)
    assert went[4:] == ["http://a.example:81/"]


def test_a_slot_of_the_store_is_kept_when_another_page_leaves_the_download_slot(
    fleet: Fleet, waiting: Waiting
) -> None:
    other, process = Waiting(Process(fleet)), waiting.process
    waiting.add("a")
    fleet.run(0.01)
    process.crawl_delay.note_sent(ORIGIN)
    other.add("x")
    waiting.add("b")
    process.full_until = 1.3
    fleet.run(1.4)
    assert process.crawl_delay.due_slots
    asked = fleet.store.calls
    process.crawl_delay.note_left(Request("http://a.example/other"))
    process.crawl_delay._paces[ORIGIN].end_block()  # the wait has ended meanwhile
    fleet.run(1.0)
    assert waiting.paths == "ab"
    assert fleet.store.calls == asked


def test_a_page_goes_when_another_one_leaves_its_download_slot(
    fleet: Fleet, waiting: Waiting
) -> None:
    """At once, not at the next look; a request of another slot changes nothing."""
    process = waiting.process
    process.full_until = 0.31
    waiting.add("a")
    fleet.run(0.2)
    process.full_until = 0.0
    process.crawl_delay.note_left(Request("http://b.example/"))
    fleet.run(0.005)
    assert waiting.paths == ""
    process.crawl_delay.note_left(Request("http://a.example/other"))
    fleet.run(0.005)
    assert waiting.paths == "a"
    process.crawl_delay.note_left(Request("http://a.example/other"))


def test_no_download_slot_is_kept_for_a_page_whose_delay_has_begun(
    fleet: Fleet, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was due only until the page before it had left."""
    process = waiting.process

    def fill(request: Request) -> None:
        process.full_until = fleet.time.now + 0.1

    monkeypatch.setattr(process, "let_go", fill)
    waiting.add("a")
    waiting.add("b")
    fleet.run(0.05)
    assert process.crawl_delay.due_slots
    process.crawl_delay.note_sent(ORIGIN)
    fleet.run(0.1)
    assert not process.crawl_delay.due_slots
    fleet.run(1.5)
    assert waiting.paths == "ab"


def test_a_download_slot_is_kept_for_one_page_at_a_time() -> None:
    """The next one of the origin is not due, though it has a slot of the store already."""
    fleet = Fleet(delay=0.5)
    waiting = Waiting(Process(fleet))
    waiting.add("first")
    fleet.run(0.8)
    waiting.process.full_until = 1.0
    waiting.add("a")
    waiting.add("b")
    fleet.run(0.15)
    assert waiting.process.crawl_delay.due_slots
    fleet.run(0.15)
    assert waiting.paths == "firsta"
    assert not waiting.process.crawl_delay.due_slots


def test_the_download_slot_of_the_best_request_is_kept(fleet: Fleet, waiting: Waiting) -> None:
    """Requests of one origin may have several slots (``meta["download_slot"]``)."""
    process = waiting.process
    process.full_until = 0.3
    waiting.add("a")
    fleet.run(0.2)
    assert list(process.crawl_delay.due_slots) == ["a.example"]
    process.crawl_delay.pace(Request("http://b.example/", priority=1), ORIGIN, process.delay)
    process.full_until = 1.0
    fleet.run(0.2)
    assert list(process.crawl_delay.due_slots) == ["b.example"]
    fleet.run(5)
    assert waiting.paths == "a"
    assert not process.crawl_delay.due_slots


def test_no_download_slot_is_kept_while_it_is_the_turn_of_another_process() -> None:
    fleet = Fleet(delay=10.0)
    other, waiting = Waiting(Process(fleet)), Waiting(Process(fleet))
    for path in "abc":
        other.add(path)
    fleet.run(0.1)
    waiting.process.full_until = 0.5
    waiting.add("x")
    fleet.run(0.3)
    assert waiting.process.crawl_delay.due_slots
    fleet.run(0.3)
    assert not waiting.process.crawl_delay.due_slots
    fleet.run(60)
    assert waiting.paths == "x"


@pytest.mark.parametrize(("late", "asked"), [(0.02, 6), (0.06, 6), (0.5, 7)])
def test_the_next_page_goes_one_delay_after_a_page_that_leaves_late(
    fleet: Fleet, waiting: Waiting, late: float, asked: int
) -> None:
    """Within its slot if it can, else with a later one, for which the store is asked again."""
    for path in "abc":
        waiting.add(path)
    fleet.run(0.01)
    sent = waiting.went[0][1] + late
    fleet.time.call_later(sent - fleet.time.now, waiting.process.crawl_delay.note_sent, ORIGIN)
    fleet.run(5)
    assert waiting.paths == "abc"
    assert waiting.went[1][1] >= sent + 1.0
    assert waiting.went[1][1] < sent + (1.06 if late < 0.1 else 2.0)
    assert fleet.store.calls == asked
    waiting.process.crawl_delay.note_sent(Origin("http", "other.example", 80))


def test_two_delays_of_one_origin_are_each_kept_after_their_own_pages() -> None:
    """Requests of two tokens."""
    fleet = Fleet(0.5)
    fleet.start(1)
    fleet.start(2, delay=2.0)
    fleet.run(100)
    assert fleet.short() == 0
    assert {delay for _, delay in fleet.sent} == {0.5, 2.0}
    for process in fleet.processes:
        assert len(process.pages) >= 15


def test_requests_of_two_delays_in_one_process(fleet: Fleet, waiting: Waiting) -> None:
    """No slot is used by a page whose delay is longer than the one it was reserved for."""
    process, went = waiting.process, list[tuple[float, float]]()

    def note(goes: bool, delay: float) -> None:
        went.append((fleet.time.now, delay))

    for number in range(20):
        delay = 0.5 if number % 2 else 2.0
        process.delays[f"http://a.example/{number}"] = delay
        turn = process.crawl_delay.pace(Request(f"http://a.example/{number}"), ORIGIN, delay)
        turn.addCallback(note, delay)
    fleet.run(60)
    assert len(went) == 20
    for (earlier, delay), (later, _) in itertools.pairwise(went):
        assert later - earlier >= delay


def test_a_better_request_with_a_longer_delay_waits_for_a_slot_of_its_own(
    fleet: Fleet, waiting: Waiting
) -> None:
    """The slot that was reserved before it came goes to the next request."""
    for path in "abc":
        waiting.add(path)
    fleet.run(0.5)
    waiting.process.delays["http://a.example/slow"] = 2.0
    waiting.add("slow", priority=5)
    fleet.run(1)
    assert waiting.paths == "ab"
    fleet.run(10)
    assert waiting.paths == "abslowc"


@pytest.mark.parametrize(
    ("before", "after", "begins"), [(0, 0, False), (1, 0, False), (1, 2, False), (0, 1, True)]
)
def test_a_delay_begins_where_there_was_none(
    waiting: Waiting, before: float, after: float, begins: bool
) -> None:
    process, request = waiting.process, Request("http://a.example/a")
    process.policy.by_rules = lambda found, request, now: found
    found: Any = before
    answer: Any = after
    assert process.crawl_delay.begins(found, request, answer) is begins


def test_origins_with_a_delay_are_spaced(fleet: Fleet, waiting: Waiting) -> None:
    delays = waiting.process.crawl_delay
    assert not delays.is_spaced(ORIGIN)
    waiting.add("a")
    assert delays.is_spaced(ORIGIN)
    assert not delays.is_spaced(None)
    fleet.run(30)
    assert not delays.is_spaced(ORIGIN)


@pytest.mark.parametrize("calls", [2, 3])
def test_a_reply_after_the_close_lets_nothing_go_and_sets_no_timer(
    fleet: Fleet, waiting: Waiting, calls: int
) -> None:
    """The second call brings a slot of this moment, the third one a slot of the next second."""
    waiting.add("a")
    waiting.add("b")
    while fleet.store.calls < calls:
        fleet.run(0.0001)
    waiting.process.crawl_delay.close()
    fleet.run(0.01)
    assert waiting.paths == "a"[: calls - 2]
    assert fleet.time.pending == 0


def test_after_the_close_nothing_goes(fleet: Fleet, waiting: Waiting) -> None:
    """No timer is left, that of an origin without requests neither."""
    idle = Origin("http", "idle.example", 80)
    waiting.process.crawl_delay.pace(Request("http://idle.example/"), idle, 1.0)
    waiting.add("a")
    waiting.add("b")
    fleet.run(0.5)
    waiting.process.crawl_delay.close()
    assert fleet.time.pending == 0
    calls = fleet.store.calls
    fleet.run(60)
    assert waiting.paths == "a"
    assert fleet.store.calls == calls
