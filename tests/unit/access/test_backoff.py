"""Holds, pauses and probes (FET-10, FET-11), with their settings."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import IMPOSSIBLE_HOST

from .simulation import DAY, DEAD, DOWN, FILE, HOUR, ORIGIN, START, Life, policy


def attempts(life: Life) -> list[float]:
    return [round(time - START, 3) for time in life.attempts]


def test_a_dead_host_is_not_bound_by_the_hold() -> None:
    """FET-14: HOLD_TIMEOUT is about origins that answer."""
    life = Life(policy(hold_timeout=0), lambda now: DEAD)
    assert life.live(20, every=0.5) == [(0, "wait"), (3, "refuse")]


def test_a_host_that_no_url_can_have_is_asked_once() -> None:
    """FET-14: no further attempt can succeed."""
    life = Life(policy(), lambda now: FetchResult(error=IMPOSSIBLE_HOST))
    assert life.live(20, every=0.5) == [(0, "refuse")]
    assert attempts(life) == [0]


def test_an_origin_given_up_long_ago_is_asked_before_anything_is_refused() -> None:
    """A crawl taken up again hours later loses no request of a site that is back."""
    life = Life(policy(), lambda now: DOWN)
    life.live(HOUR)
    life.now += DAY / 2
    plan = life.policy.plan(life.record, life.now)
    assert (plan.action, plan.ask) == (Action.WAIT, True)
    assert life.ask().action is Action.REFUSE  # still down: no second hold
    life.now += DAY
    life.answer = lambda now: FILE
    assert life.ask().action is Action.RULES


def test_short_pauses_do_not_make_a_refusal_short() -> None:
    """Given up stays refused for a minute at least, asked or not."""
    life = Life(policy(hold_timeout=0, retry_max_delay=1), lambda now: DOWN)
    assert life.ask().action is Action.REFUSE
    assert life.policy.plan(life.record, START + 30).action is Action.REFUSE
    assert life.policy.plan(life.record, START + 61).action is Action.WAIT


def retry(value: str, status: int = 503) -> FetchResult:
    return FetchResult(status=status, headers={"retry-after": value})


@pytest.mark.parametrize(
    ("value", "second_attempt"),
    [
        ("0", 1),
        ("1", 1),
        ("30", 30),
        ("299", 299),
        ("3600", 300),
        ("9" * 30, 300),
        ("Fri, 15 Jan 2027 08:00:40 GMT", 40),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 1),
        ("never", 1),
    ],
)
def test_fet11_retry_after_wins_where_it_is_longer_up_to_the_end_of_the_hold(
    value: str, second_attempt: float
) -> None:
    """0 and dates in the past or unreadable change nothing."""
    life = Life(policy(), lambda now: retry(value))
    life.live(301, every=1)
    assert attempts(life)[1] == second_attempt


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("200", [0, 200, 300, 500, 700, 900]),
        ("5000", [0, 300, 5300, 10300]),
        ("86400", [0, 300, 86700]),
        ("9" * 30, [0, 300, 86700]),
    ],
)
def test_fet11_retry_after_counts_in_full_once_the_origin_is_given_up(
    value: str, expected: list[float]
) -> None:
    """While requests wait up to the end of the hold; then a day at most."""
    life = Life(policy(), lambda now: retry(value))
    end = expected[-1] + 100
    actions = life.live(end, every=10)
    assert attempts(life) == expected
    assert actions == [(0, "wait"), (300, "refuse")]


def test_fet11_a_clock_put_back_does_not_prolong_a_retry_after() -> None:
    """A failure in the future says nothing: the origin is asked."""
    life = Life(policy(hold_timeout=0), lambda now: retry("86400"))
    life.ask()
    life.now -= 2 * HOUR
    assert life.policy.plan(life.record, life.now).ask


@pytest.mark.parametrize("failure", [DOWN, DEAD])
def test_unreachable_origins_are_crawled_where_a_setting_says_so(failure: FetchResult) -> None:
    """ROBOTSPEC_UNREACHABLE = "allow": after the first attempt, and attempts go on."""
    life = Life(policy(unreachable="allow"), lambda now: failure)
    assert life.policy.plan(None, START).action is Action.WAIT
    assert life.live(100, every=1) == [(0, "allow")]
    assert life.ask().reason == "unreachable"
    assert len(attempts(life)) > 3


def incomplete(status: int) -> FetchResult:
    """A response whose body was cut."""
    return FetchResult(status=status, complete=False)


def test_the_record_tells_what_went_wrong() -> None:
    """EXT-02: in one line, with the status if there was one."""
    rules = policy()
    logged = [
        (record.failure, record.failure_status, record.unanswered)
        for attempt in (DOWN, DEAD, *map(incomplete, (200, 99)))
        for record in [rules.apply(None, ORIGIN, attempt, START, 0)]
    ]
    assert logged == [
        ("HTTP status 503", 503, 0),
        ("DNS lookup failed", None, 1),
        ("incomplete response", 200, 0),
        ("HTTP status 99", 99, 0),
    ]
