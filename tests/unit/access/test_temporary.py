"""FET-19: 408, 421, 425 and 429 are no result yet."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, DOWN, FILE, HOUR, MINUTE, MISSING, START, Life, policy

TEMPORARY = (408, 421, 425, 429)
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
@every_status
@pytest.mark.parametrize("held", [FILE, MISSING])
def test_a_copy_in_use_stays_in_use_and_decides_on(
    edition: str, status: int, held: FetchResult
) -> None:
    """FET-19, CAC-02: also once it has expired, and nothing waits; google's 429 closes (FET-09)."""
    life = Life(policy(edition), lambda now: later(status) if life.attempts[1:] else held)
    action = life.ask().action
    assert action is (Action.RULES if held is FILE else Action.ALLOW)
    life.now += 0.9 * DAY
    actions = life.live(3 * DAY)
    if edition == "google" and status == 429:
        refused, used = actions[1:3]
        assert (refused[1], used[1]) == ("refuse", action.value)
        assert refused[0] == DAY
        assert used[0] == pytest.approx(1.4 * DAY, abs=120)
        return
    assert actions == [(0.9 * DAY, action.value)]
    assert len(life.attempts) < 100
    life.answer = lambda now: FILE
    assert life.live(2 * HOUR)[-1][1] == "rules"


@every_edition
@every_status
def test_an_expired_copy_is_not_used_before_the_status_stands(edition: str, status: int) -> None:
    """FET-19: requests wait meanwhile, as they did for the first attempt."""
    life = Life(policy(edition), lambda now: later(status) if life.attempts[1:] else FILE)
    life.ask()
    life.now += 2 * DAY
    began = life.now - START
    closes = edition == "google" and status == 429
    actions = [(began, "wait"), (began + 3, "refuse" if closes else "rules")]
    assert life.live(59, every=1) == actions


@every_edition
@every_status
@pytest.mark.parametrize("before", [FILE, None], ids=["with a copy", "without a copy"])
def test_one_temporary_status_opens_no_closed_origin(
    edition: str, status: int, before: FetchResult | None
) -> None:
    """FET-19: its outage goes on, and is not prolonged by it."""
    life = Life(policy(edition), lambda now: before or DOWN)
    life.ask()
    life.now, life.answer = START + 3 * DAY, lambda now: DOWN
    life.live(11 * HOUR)
    since = life.held.unreachable_since
    life.answer = lambda now: later(status)
    assert life.ask().action is Action.REFUSE
    life.answer = lambda now: DOWN
    life.now += 61
    assert life.live(HOUR / 2)[-1][1] == "refuse"
    assert life.held.unreachable_since == since
    life.answer = lambda now: later(status)
    opened = life.live(10 * MINUTE)
    if edition == "google" and status == 429:
        assert opened[-1][1] == "refuse"
    else:
        assert [action for _, action in opened] == ["refuse", "rules" if before else "allow"]
        assert opened[-1][0] - opened[0][0] == 2 * MINUTE


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


@every_edition
@every_status
@pytest.mark.parametrize("before", [FILE, None], ids=["with a copy", "without a copy"])
def test_a_retry_after_of_one_that_stands_holds_in_full(
    edition: str, status: int, before: FetchResult | None
) -> None:
    """FET-11, FET-19: nobody waits, and its permission does not double (RFC 6585, section 4)."""
    life = Life(policy(edition), lambda now: before or later(status, "21600"))
    life.ask()
    life.now, life.answer = START + 2 * DAY, lambda now: later(status, "21600")
    life.attempts.clear()
    life.live(DAY + HOUR)
    pauses = [b - a for a, b in pairwise(life.attempts)]
    assert pauses == [6 * HOUR] * 4
    plain = Life(policy(edition), lambda now: later(status))
    plain.live(DAY)
    assert max(b - a for a, b in pairwise(plain.attempts)) <= HOUR


@every_edition
def test_a_retry_after_where_a_copy_lets_requests_go_holds_in_full(edition: str) -> None:
    """FET-11: the hold bounds it only while requests wait."""
    answer = FetchResult(status=503, headers={"retry-after": "3600"})
    life = Life(policy(edition), lambda now: answer if life.attempts[1:] else FILE)
    life.ask()
    life.now = START + 0.8 * DAY
    assert life.live(3 * HOUR) == [(0.8 * DAY, "rules")]
    assert [b - a for a, b in pairwise(life.attempts[1:])] == [HOUR, HOUR]


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
    if "status_policy" not in settings:  # else it is a result
        life = Life(rules, lambda now: later(status) if life.attempts[1:] else FILE)
        life.ask()
        life.now += 2 * DAY
        assert life.ask().action is Action.RULES


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
