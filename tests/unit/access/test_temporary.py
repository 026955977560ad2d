"""FET-19: 408, 425 and 429 are no result yet."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, DOWN, FILE, HOUR, MISSING, START, Life, policy

TEMPORARY = (408, 425, 429)
every_edition = pytest.mark.parametrize("edition", EDITIONS)
every_status = pytest.mark.parametrize("status", TEMPORARY)


def later(status: int = 429, retry_after: str | None = None) -> FetchResult:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return FetchResult(status=status, headers=headers)


def attempts(life: Life) -> list[float]:
    return [round(time - START, 3) for time in life.attempts]


@every_edition
@every_status
def test_a_status_that_stands_counts_after_the_retries(edition: str, status: int) -> None:
    """FET-19: then FET-08, or FET-09 for ``google``'s 429."""
    life = Life(policy(edition), lambda now: later(status))
    refused = edition == "google" and status == 429
    assert life.live(59, every=0.5) == [(0, "wait"), (3, "refuse" if refused else "allow")]
    assert attempts(life) == [0, 1, 3]


@every_edition
@pytest.mark.parametrize(("retry_after", "waits"), [("299", True), ("300", True), ("301", False)])
def test_a_retry_after_beyond_the_hold_ends_the_wait_at_once(
    edition: str, retry_after: str, waits: bool
) -> None:
    """FET-19: nobody waits for what comes too late."""
    life = Life(policy(edition), lambda now: later(429, retry_after))
    stood = Action.REFUSE if edition == "google" else Action.ALLOW
    assert life.ask().action is (Action.WAIT if waits else stood)
    life.live(301, every=1)
    assert life.ask().action is stood


@every_edition
@pytest.mark.parametrize("held", [FILE, MISSING])
def test_a_held_copy_stays_in_use_meanwhile_and_afterwards(edition: str, held: FetchResult) -> None:
    """FET-19, CAC-02: also once it has expired, and nothing waits."""
    life = Life(policy(edition), lambda now: later() if life.attempts[1:] else held)
    action = life.ask().action
    assert action is (Action.RULES if held is FILE else Action.ALLOW)
    life.now += 0.9 * DAY
    assert life.live(3 * DAY) == [(0.9 * DAY, action.value)]
    assert len(life.attempts) < 100
    life.answer = lambda now: FILE
    assert life.live(2 * HOUR)[-1][1] == "rules"


def test_a_server_error_after_it_begins_the_outage() -> None:
    """FET-12, FET-13: the copy is used until the site fails, and closed from then on."""
    life = Life(policy("rfc9309"), lambda now: FILE)
    life.ask()
    life.now, life.answer = START + DAY, lambda now: later()
    life.live(DAY)
    assert life.ask().action is Action.RULES
    life.answer = lambda now: DOWN
    life.live(2 * HOUR)
    assert life.ask().action is Action.REFUSE
    assert life.held.unreachable_since is not None
    assert life.held.unreachable_since >= START + 2 * DAY
    life.answer = lambda now: later()
    life.live(2 * HOUR)
    assert life.ask().action is Action.RULES


@every_status
@pytest.mark.parametrize(
    "settings",
    [{"hold_timeout": 0}, {"unreachable": "allow"}, {"status_policy": {}}],
    ids=["no hold", "unreachable allowed", "named"],
)
def test_it_counts_at_once_where_the_user_says_so(status: int, settings: dict[str, object]) -> None:
    """FET-19: a hold of 0, UNREACHABLE = "allow", a status named in the status policy."""
    if "status_policy" in settings:
        settings = {"status_policy": {status: Meaning.ALLOW}}
    rules = replace(policy(), **settings)  # type: ignore[arg-type]
    life = Life(rules, lambda now: later(status))
    assert life.ask().action is Action.ALLOW


def test_a_class_in_the_status_policy_counts_after_the_retries() -> None:
    """FET-19: a class names no status."""
    life = Life(policy(status_policy={"4xx": Meaning.DISALLOW}), lambda now: later())
    assert life.live(20, every=0.5) == [(0, "wait"), (3, "disallow")]


results = st.sampled_from([FILE, MISSING, DOWN, *map(later, TEMPORARY), later(429, "20")])


@given(
    st.sampled_from(list(EDITIONS)),
    st.lists(results, min_size=1, max_size=8),
    st.sampled_from([0, 1, 3]),
    st.floats(0, 0.99),
)
def test_no_mixture_of_answers_holds_requests_beyond_the_hold(
    edition: str, answers: list[FetchResult], times: int, jitter: float
) -> None:
    """FET-10, FET-19: an origin that always answers is waited for at most once, for the hold."""

    def answer(now: float) -> FetchResult:
        return answers[len(life.attempts) % len(answers)]

    life = Life(policy(edition, retry_times=times, hold_timeout=60), answer, jitter=jitter)
    waited = 0.0
    for _ in range(400):
        if life.ask().action is Action.WAIT:
            waited += 0.5
            assert waited <= 61
        else:
            waited = 0.0
        life.now += 0.5
