"""One fetch: what it evaluates, what it shares, and how long it waits for another process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.lookup.shared_lookup import POLL_MAX
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.store.base import Claim
from tests.support.stores import SharedStore, put, take

from .fakes import DOWN, FILE, LEASE, MISSING, OTHER_FILE, START, A, B, LookupHarness, two_processes

DAY = 86_400.0
LOCAL = FetchResult(error="proxy refused the connection", local=True)


def test_a_record_of_the_shared_store_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, one, two = two_processes()
    one.ask()
    one.answer(FILE)
    parsed: list[bytes] = []
    parse = RobotsTxt.parse

    def noted(body: bytes, *edition: Any, **limit: Any) -> RobotsTxt:
        parsed.append(body)
        return parse(body, *edition, **limit)

    monkeypatch.setattr(RobotsTxt, "parse", noted)
    two.ask()
    assert isinstance(two.ask(), Resolved)
    assert parsed == [FILE.body]


def test_a_handler_that_looks_up_its_own_origin_starts_no_second_fetch() -> None:
    """Even where the fetch has not paused once."""
    _, one, two = two_processes()
    one.ask()
    one.answer(FILE)
    found: list[object] = []
    original = two.on_rules

    async def on_rules(*args: Any) -> None:
        found.append(two.ask())
        await original(*args)

    two.on_rules = on_rules  # type: ignore[assignment, method-assign]
    two.ask()
    assert [type(each) for each in found] == [Pending]
    assert two.fetched == []
    assert isinstance(two.ask(), Resolved)


# --- a turn in the page's download slot


def test_a_turn_is_awaited_before_the_fetch_and_without_the_lease() -> None:
    """CAC-05: a DOWNLOAD_DELAY longer than the lease makes nobody else fetch meanwhile."""
    _, one, two = two_processes()
    one.turn = 3 * LEASE
    one.ask()
    one.time.advance(LEASE)
    assert (one.fetched, two.fetched) == ([], [])
    two.ask()
    assert two.fetched == [A]
    two.answer(FILE)
    one.time.advance(3 * LEASE)
    assert one.fetched == []
    assert isinstance(one.ask(), Resolved)


def test_a_request_takes_one_turn_for_its_fetch() -> None:
    """However long it lasts: no second one is taken after it."""
    harness = LookupHarness(SharedStore())
    harness.turn = 3.0
    harness.ask()
    harness.pass_time(2.0)
    assert harness.fetched == []
    harness.pass_time(1.5)
    assert harness.fetched == [A]


def test_a_failure_follows_the_record_of_the_store_and_not_that_in_memory() -> None:
    """CAC-02: the copy that another process fetched is kept, and its failures are counted."""
    shared, one, two = two_processes(hold_timeout=0.0)
    one.ask()
    one.answer(FILE)
    two.ask()
    two.time.advance(2 * DAY)
    two.ask()
    two.answer(OTHER_FILE)
    two.time.advance(2 * DAY)
    one.ask()
    one.answer(DOWN)
    stored = shared.get(A)
    assert stored is not None
    assert (stored.body, stored.failures) == (OTHER_FILE.body, 1)


# --- failures between us and the origin


def test_a_local_failure_is_not_written_to_the_shared_store() -> None:
    """A worker without a network does not give up a site for the others."""
    shared, broken, healthy = two_processes(retry_times=0)
    waiter = broken.wait_for()
    broken.answer(LOCAL)
    assert waiter.known.action is Action.REFUSE
    assert shared.get(A) is None
    other = healthy.wait_for()
    assert healthy.fetched == [A]
    healthy.answer(FILE)
    assert other.known.action is Action.RULES


def test_a_local_failure_releases_the_lease_and_keeps_what_others_wrote() -> None:
    shared, one, two = two_processes()
    one.ask()
    one.answer(FILE)
    one.time.advance(1.1 * DAY)
    stored = shared.get(A)
    two.ask()
    two.answer(LOCAL)
    assert shared.get(A) == stored
    assert take(shared, A, "somebody else", two.clock(), 1)


def test_a_page_that_answers_after_a_local_failure_writes_nothing_to_the_shared_store() -> None:
    """FET-12: the note belongs to a failure that is not shared."""
    shared = SharedStore()
    harness = LookupHarness(shared)
    harness.ask()
    harness.answer(LOCAL)
    harness.page_answered(A)
    assert shared.get(A) is None


def test_a_site_is_found_again_by_the_worker_whose_network_is_back() -> None:
    """By the record that another worker wrote meanwhile, without a fetch of its own."""
    _, one, two = two_processes(retry_times=0)
    one.ask()
    one.answer(LOCAL)
    one.time.advance(1)
    two.ask()
    two.answer(FILE)
    one.time.advance(61)
    one.ask()
    assert isinstance(one.ask(), Resolved)
    assert one.fetched == [A]


# --- waiting for another process


@settings(max_examples=25, deadline=None)
@given(
    jitters=st.lists(st.floats(0, 0.999), min_size=2, max_size=50),
    begins=st.lists(st.floats(0, 10), min_size=2, max_size=50),
    takes=st.floats(0.1, 0.9 * LEASE),
)
def test_one_process_takes_over_from_one_that_is_killed(
    jitters: list[float], begins: list[float], takes: float
) -> None:
    """CAC-05: two fetches of the file, whenever the processes begin and however many wait."""
    shared, time = SharedStore(), Clock()
    fleet = [
        LookupHarness(shared, owner=str(n), time=time, random=jitter)
        for n, jitter in enumerate(jitters)
    ]
    dead, *others = fleet
    dead.ask()
    for harness, begin in zip(others, begins * len(fleet), strict=False):
        time.callLater(begin, harness.ask)
    fetches: dict[int, float] = {}
    while any(not isinstance(each.ask(), Resolved) for each in others):
        time.advance(0.25)
        assert time.seconds() < 3 * LEASE
        for n, harness in enumerate(others):
            if (
                A in harness.fetching
                and fetches.setdefault(n, time.seconds() + takes) <= time.seconds()
            ):
                harness.answer(FILE)
    assert dead.fetched + [origin for each in others for origin in each.fetched] == [A, A]


def test_one_process_takes_over_from_one_that_closes() -> None:
    """CAC-05: a cancelled fetch does not count: another process fetches without a pause."""
    shared, closing, other = two_processes(hold_timeout=0.0, retry_max_delay=60.0)
    closing.ask()
    closing.answer(DOWN)
    closing.time.advance(61.0)
    closing.ask()
    other.ask()
    stored = shared.get(A)
    assert (closing.fetched, other.fetched) == ([A, A], [])
    assert closing.close()
    assert shared.get(A) == stored
    other.time.advance(POLL_MAX)
    assert other.fetched == [A]
    other.answer(DOWN)
    third = LookupHarness(shared, owner="third", time=other.time, hold_timeout=0.0)
    third.ask()
    assert (third.fetched, third.memory.get(A)) == ([], shared.get(A))


def test_a_store_whose_records_never_agree_is_not_asked_for_ever() -> None:
    """SAF-05: each answer is another due record."""

    class Liar(SharedStore):
        asked = 0

        def claim(self, *arguments: Any, **options: Any) -> Claim:
            self.asked += 1
            at = START - DAY * 2 - self.asked
            return Claim(False, RobotsRecord(A, Meaning.ALLOW, 404, fetched_at=at, expires_at=at))

    liar = Liar()
    harness = LookupHarness(liar)
    harness.ask()
    assert harness.fetched == [A]
    assert liar.asked < 20


def test_a_process_without_a_slot_does_not_fetch_because_it_has_read_enough() -> None:
    """However many due records it is given meanwhile."""

    class Leased(SharedStore):
        asked = 0

        def claim(self, origin: Origin, *arguments: Any, **options: Any) -> Claim:
            return Claim(origin != A)

        def get(self, *arguments: Any, **options: Any) -> RobotsRecord | None:
            self.asked += 1
            at = START - DAY * 2 - self.asked
            return RobotsRecord(A, Meaning.ALLOW, 404, fetched_at=at, expires_at=at)

    store = Leased()
    harness = LookupHarness(store, limit=1)
    harness.ask(A)
    harness.ask(B)
    harness.pass_time(10 * POLL_MAX)
    assert store.asked > 8
    assert harness.fetched == [B]


# --- what is shared


@pytest.mark.parametrize("is_fresh", [True, False])
def test_an_older_record_of_the_shared_store_replaces_no_newer_one(is_fresh: bool) -> None:
    """CAC-04: the later attempt counts, and with it the failures since the copy."""
    shared, end = SharedStore(), START + (1000 if is_fresh else -1000)
    older = RobotsRecord(A, Meaning.ALLOW, 404, fetched_at=START - 2000, expires_at=end)
    newer = RobotsRecord(A, Meaning.DISALLOW, 403, fetched_at=START - 500, expires_at=START - 400)
    put(shared, older)
    harness = LookupHarness(shared)
    harness.memory.put(newer)
    harness.ask()
    assert harness.fetched == [A]
    harness.answer(DOWN)
    held = harness.memory.get(A)
    assert held is not None
    assert (held.fetched_at, held.failures) == (newer.fetched_at, 1)
    assert shared.get(A) == held


def test_a_clock_that_was_put_back_costs_one_fetch_of_all_processes() -> None:
    """CAC-05: a record of each in memory is from the future now, and counts no more."""
    _, one, two = two_processes()
    one.ask()
    one.answer(FILE)
    two.ask()
    one.ahead = two.ahead = -3600.0
    one.ask()
    one.answer(OTHER_FILE)
    two.ask()
    found = two.ask()
    assert isinstance(found, Resolved)
    assert found.record.body == OTHER_FILE.body
    assert (one.fetched, two.fetched) == ([A, A], [])


def test_the_note_about_a_page_replaces_no_record_of_another_process() -> None:
    """FET-12: in the edition ``google`` an old failure would take the place of a good copy."""
    shared, one, two = two_processes(hold_timeout=0.0)
    one.ask()
    one.answer(DOWN)
    one.time.advance(61.0)
    two.ask()
    two.answer(FILE)
    good = shared.get(A)
    one.page_answered(A)
    assert shared.get(A) == good
    record = one.memory.get(A)
    assert record is not None
    assert record.pages_answered_at == one.clock()


@pytest.mark.parametrize("vary", ["User-Agent", "Accept, user-agent", "*"])
def test_a_response_that_depends_on_the_user_agent_is_shared_by_one_product(vary: str) -> None:
    """CAC-04: case and version aside, the name decides; in one crawl the copy serves all."""
    shared, time = SharedStore(), Clock()
    fleet = [LookupHarness(shared, owner=str(n), time=time) for n in range(4)]
    for harness, product in zip(fleet, ["abot", "bbot", "abot", "cbot"], strict=True):
        harness.product = product
    first, second, same, third = fleet
    first.ask()
    first.answer(replace(FILE, headers={"vary": vary}, agent="abot"))
    second.ask()
    second.answer(replace(OTHER_FILE, headers={"vary": vary}, agent="bbot"))
    same.ask()
    assert same.fetched == []
    assert isinstance(found := same.ask(), Resolved)
    assert found.robots is not None
    assert found.robots.body == FILE.body
    third.ask()
    third.answer(FILE)
    late = LookupHarness(shared, owner="late", time=time)
    late.ask()
    assert late.fetched == []


def test_the_failure_of_another_product_hides_no_copy_that_is_held() -> None:
    """CAC-04: neither in the store nor in memory, and the refresh is our own."""
    _, blocked, welcome = two_processes(hold_timeout=0.0, min_ttl=0.0)
    blocked.product, welcome.product = "foobot", "mozilla"
    headers = {"vary": "User-Agent", "cache-control": "max-age=40"}
    file = replace(FILE, headers=headers, agent="mozilla")
    welcome.ask()
    welcome.answer(file)
    blocked.ask()
    blocked.answer(DOWN)
    welcome.pass_time(33.0)
    assert isinstance(found := welcome.ask(), Resolved)
    assert found.robots is not None
    assert welcome.fetched == [A, A]


def test_a_failure_in_the_store_hides_no_copy_in_memory() -> None:
    """CAC-04: as where the store has lost the copy, or it came from another crawl."""
    shared = SharedStore()
    failure = RobotsRecord(
        A, failed_at=START + 30, next_attempt=START + 90, unreachable_since=START, failures=3
    )
    put(shared, failure)
    harness = LookupHarness(shared)
    copy = RobotsRecord(A, Meaning.ALLOW, 404, fetched_at=START - 39, expires_at=START + 1)
    harness.memory.put(copy)
    assert isinstance(found := harness.ask(), Resolved)
    assert found.action is Action.ALLOW
    assert harness.fetched == [A]
    harness.answer(DOWN)
    held = shared.get(A)
    assert held is not None
    assert (held.fetched_at, held.failures) == (copy.fetched_at, 1)


def test_leases_that_end_together_do_not_start_a_herd_of_fetches() -> None:
    """A killed process held many: the others' fetches pass the limiter like any other."""
    shared = SharedStore()
    origins = [Origin("http", f"{n}.example", 80) for n in range(100)]
    for origin in origins:
        take(shared, origin, "killed", START, LEASE)
    harness = LookupHarness(shared, limit=2)
    most = 0
    for _ in range(1500):
        for origin in origins:
            harness.ask(origin)
        most = max(most, len(harness.fetching))
        for origin in list(harness.fetching)[:1]:
            harness.answer(MISSING, origin)
        harness.pass_time(0.1)
    assert 0 < most <= 2 * FetchLimiter.BURST_FACTOR
    assert len(harness.fetched) == 100


def test_fetches_that_wait_for_a_slow_store_are_not_taken_for_silent_servers() -> None:
    """No more than the limit wait for it, and none of them is preempted."""
    harness = LookupHarness(SharedStore(), limit=2)
    harness.threads.at_once = False
    origins = [Origin("http", f"{n}.example", 80) for n in range(40)]
    most = 0
    for _ in range(400):
        for origin in origins:
            harness.ask(origin)
        most = max(most, len(harness.limiter))
        harness.pass_time(0.5)
        harness.threads.work()
        harness.threads.bring()
        for origin in list(harness.fetching):
            harness.answer(MISSING, origin)
    assert most == 2
    assert harness.fetched == origins
    assert not any(isinstance(done.found, Pending) for done in harness.ended)


def test_silent_servers_count_as_such_once_the_store_has_replied() -> None:
    harness = LookupHarness(SharedStore(), limit=2)
    origins = [Origin("http", f"{n}.example", 80) for n in range(4)]
    for origin in origins:
        harness.ask(origin)
    assert harness.fetched == origins[:2]
    harness.threads.at_once = False
    harness.pass_time(FetchLimiter.SILENT_AFTER)
    for origin in origins:
        harness.ask(origin)
    harness.threads.run()
    assert harness.fetched == origins


def test_other_processes_do_not_wait_for_our_signal_handlers() -> None:
    """The record is shared as soon as it is there; our own requests wait for the handlers."""
    _, one, two = two_processes()
    one.handlers_running = Deferred()
    first, second = one.wait_for(), two.wait_for()
    one.answer(FILE)
    one.time.advance(1.0)
    assert not first.came
    assert second.known.action is Action.RULES
    assert two.fetched == []
    one.handlers_running.callback(None)
    assert first.known.action is Action.RULES


# --- errors of our own


def test_an_error_of_a_store_costs_a_warning_and_no_origin(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever it raises; the crawl continues without the store."""

    class Broken(SharedStore):
        def claim(self, *arguments: Any, **options: Any) -> Claim:
            raise ZeroDivisionError

    harness = LookupHarness(Broken())
    harness.ask()
    harness.answer(FILE)
    assert isinstance(harness.ask(), Resolved)
    (entry,) = caplog.records
    assert entry.levelname == "WARNING"
    assert "ZeroDivisionError" in caplog.text


def test_an_error_in_a_lookup_is_logged_and_not_repeated_without_a_pause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = LookupHarness(SharedStore())

    def fail(request: object) -> str:
        raise ZeroDivisionError

    harness.agent = fail  # type: ignore[method-assign]
    harness.ask()
    assert "ZeroDivisionError" in caplog.text
    assert len(harness.limiter) == 0
    harness.ask()
    assert caplog.text.count("Traceback") == 1
    harness.pass_time(RETRY_PAUSE)
    (done,) = harness.ended
    assert isinstance(done.found, Pending)
    assert done.found.until == START + RETRY_PAUSE
    assert len(harness.limiter) == 0
