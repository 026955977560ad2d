"""Outages (FET-10, FET-12, FET-13): weeks of failures in every edition."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, DEAD, DOWN, FILE, HOUR, MINUTE, MISSING, START, Life, policy

LATER = FetchResult(status=408)
FAILURES = pytest.mark.parametrize("failure", [DOWN, DEAD], ids=["503", "dead"])


def outage(
    edition: str | dict[str, object],
    before: FetchResult | None,
    failure: FetchResult,
    **settings: object,
) -> Life:
    """An origin that had *before*, if anything, and fails from START on with an expired copy."""
    life = Life(
        policy(edition, **settings), lambda now: failure if now >= START else before or failure
    )
    if before is not None:
        life.now = START - 2 * DAY
        life.ask()
        life.now = START
    life.attempts.clear()
    return life


def days(life: Life, count: float, every: float = 20 * MINUTE) -> list[tuple[float, str]]:
    """The actions of *count* days with the days they began, without the first hour."""
    life.live(HOUR, every=10.0)
    return [(round(t / DAY, 1), action) for t, action in life.live(count * DAY, every)]


#: (edition, with a copy, stances from the second hour on)
CLOSED = (0.0, "refuse")
STAGES = [
    ("google-2019", True, [CLOSED, (30.0, "rules")]),
    ("google-2019", False, [CLOSED, (30.0, "allow")]),
    ("rfc9309", True, [CLOSED, (30.0, "rules")]),
    ("rfc9309", False, [CLOSED, (30.0, "allow")]),
    ("google", True, [CLOSED, (0.5, "rules"), (30.5, "refuse")]),
    ("google", False, [CLOSED, (0.5, "allow"), (30.5, "refuse")]),
    ("google-2010", True, [CLOSED, (30.0, "rules")]),
    ("google-2010", False, [CLOSED, (30.0, "allow")]),
    ("classic", True, [CLOSED, (30.0, "rules")]),
    ("classic", False, [CLOSED, (30.0, "allow")]),
]


@FAILURES
@pytest.mark.parametrize(("edition", "has_copy", "stances"), STAGES)
def test_fet12_fet13_sixty_days_of_outage(
    edition: str, has_copy: bool, stances: list[tuple[float, str]], failure: FetchResult
) -> None:
    """The actions of each edition, with and without a copy: closed at first, copy or not."""
    life = outage(edition, FILE if has_copy else None, failure)
    assert life.ask().action is Action.WAIT
    assert days(life, 60) == stances


@FAILURES
@pytest.mark.parametrize("has_copy", [True, False])
def test_google_after_the_limit_with_pages_that_answer(
    failure: FetchResult, has_copy: bool
) -> None:
    """FET-12 (google): no restrictions, copy or not, if pages of the origin answer."""
    life = outage("google", FILE if has_copy else None, failure)
    days(life, 20)
    life.record = life.policy.page_answered(life.held, life.now)
    assert [action for _, action in life.live(40 * DAY, HOUR)][-1] == "refuse"
    life.record = life.policy.page_answered(life.held, life.now)
    assert life.ask().reason == "limit_passed"
    began = life.now - START
    assert life.live(2 * DAY, HOUR) == [(began, "allow"), (began + DAY, "refuse")]


@pytest.mark.parametrize(
    ("limit", "stances"),
    [(7 * DAY, [CLOSED, (7.0, "allow")]), (50 * DAY, [CLOSED, (50.0, "allow")])],
)
def test_the_limit_is_a_field_of_the_edition(
    limit: float, stances: list[tuple[float, str]]
) -> None:
    """FET-12: ``unreachable_limit``."""
    own = {"base": "google-2019", "unreachable_limit": limit}
    assert days(outage(own, None, DOWN), 60) == stances


def test_googles_limit_counts_from_the_time_at_which_the_copy_stands_in() -> None:
    """FET-12 (google): 30 days after FET-13's 12 hours, or after what is set instead."""
    own = {"base": "google", "stale_after": 2 * DAY, "unreachable_limit": 3 * DAY}
    assert days(outage(own, FILE, DOWN), 10) == [CLOSED, (2.0, "rules"), (5.0, "refuse")]


@pytest.mark.parametrize("edition", ["google-2019", "google"])
@FAILURES
def test_attempts_go_on_for_ever(edition: str, failure: FetchResult) -> None:
    """FET-10, FET-12: in every stage, at the pace of a probe, and the answer counts at once."""
    life = outage(edition, FILE, failure)
    days(life, 45)
    life.attempts.clear()
    life.live(HOUR, every=10.0)
    assert 59 <= len(life.attempts) <= 61
    life.answer = lambda now: MISSING
    life.live(2 * MINUTE, every=1.0)
    assert life.ask().action is Action.ALLOW


# --- FET-12: only attempts witness an outage


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("before", [FILE, None], ids=["with a copy", "without a copy"])
@FAILURES
def test_fet12_two_failures_a_month_apart_are_two_outages(
    edition: str, before: FetchResult | None, failure: FetchResult
) -> None:
    """Two crawls with one failure each know nothing of the month between them."""
    life = outage(edition, before, failure)
    life.ask()
    life.now += 31 * DAY
    assert life.ask().action in (Action.WAIT, Action.REFUSE)
    assert life.held.unreachable_since == life.now


@pytest.mark.parametrize(("gap", "action"), [(2 * DAY, "allow"), (2 * DAY + 1, "wait")])
def test_fet12_a_gap_of_more_than_two_days_restarts_the_outage(gap: float, action: str) -> None:
    """One failure in two days for forty days is an outage; a little more rarely, it is not."""
    life = outage("google-2019", None, DOWN)
    assert life.live(40 * DAY, every=gap)[-1][1] == action


def test_fet12_pages_that_answered_before_a_gap_do_not_count_after_it() -> None:
    life = outage("google", FILE, DOWN)
    life.ask()
    life.record = life.policy.page_answered(life.held, life.now)
    life.now += 10 * DAY
    assert life.live(31 * DAY, every=HOUR)[-1][1] == "refuse"


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("before", "failure"), [(DEAD, LATER), (DEAD, DEAD), (DOWN, DOWN)])
def test_fet12_an_outage_that_begins_anew_has_counted_nothing(
    edition: str, before: FetchResult, failure: FetchResult
) -> None:
    """A failure days ago opens and closes nothing now: attempts and pauses are a fresh origin's."""
    old, fresh = outage(edition, None, before), outage(edition, None, failure)
    for _ in range(3):
        old.ask()
        old.now += 10
    fresh.now = old.now = START + 3 * DAY
    old.answer = fresh.answer
    assert old.live(500, every=1) == fresh.live(500, every=1)
    assert old.attempts[-len(fresh.attempts) :] == fresh.attempts


@pytest.mark.parametrize("has_copy", [True, False])
@pytest.mark.parametrize("latency", [0.5, 60.0])
def test_fet11_fet12_a_retry_after_of_a_day_does_not_stop_an_outage(
    has_copy: bool, latency: float
) -> None:
    """The 12 hours and the 30 days pass, whatever time the attempts themselves take."""
    failure = FetchResult(status=503, headers={"retry-after": "86400"})
    for edition, opens in [("google", 0.5), ("google-2019", 30)]:
        life = outage(edition, FILE if has_copy else None, failure)
        actions = days(life, 32, every=20 * MINUTE + latency)
        (open_from,) = (at for at, action in actions if action in ("rules", "allow"))
        assert opens <= open_from <= opens + 1.1


@pytest.mark.parametrize("offset", [-60.0, 0.0, 60.0])
def test_fet12_a_crawl_once_a_day_reaches_the_limit(offset: float) -> None:
    """At the same hour, a minute earlier or later."""
    life = outage("google-2019", FILE, DEAD)
    actions = [life.live(20, every=1)[-1][1]]
    for day in range(1, 33):
        life.now = START + day * DAY + offset * (-1) ** day
        actions.append(life.live(20, every=1)[-1][1])
    assert actions.index("rules") in (30, 31)
    assert set(actions[31:]) == {"rules"}


# --- failures between us and the origin

LOCAL = FetchResult(error="proxy refused the connection", local=True)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("before", [FILE, None], ids=["with a copy", "without a copy"])
def test_a_network_that_fails_on_our_side_never_opens_an_origin(
    edition: str, before: FetchResult | None
) -> None:
    """It is waited for and given up like any other, but it says nothing of the origin (FET-12)."""
    life = outage(edition, before, LOCAL)
    assert days(life, 60) == [CLOSED]
    assert life.held.local


def test_the_origins_own_first_failure_begins_its_outage() -> None:
    life = outage("google-2019", FILE, LOCAL)
    days(life, 40)
    life.answer = lambda now: DOWN
    life.now += HOUR
    life.ask()
    assert (life.held.local, life.held.failures) == (False, 1)
    assert life.held.unreachable_since == life.now
    life.answer = lambda now: LOCAL
    life.now += HOUR
    life.ask()
    assert (life.held.local, life.held.failures) == (False, 2)
