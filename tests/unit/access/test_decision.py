"""Decisions: what users see of all this (EXT-02)."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.decision import Decision, Ground, facts
from scrapy_robotspec.access.outcome import FetchResult, Hop, Meaning
from scrapy_robotspec.access.plan import Action, Standing
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

from .simulation import DAY, DEAD, DOWN, FILE, MISSING, ORIGIN, START, Life, policy

URL = "http://example.com/private/x"


def decision(life: Life, url: str = URL) -> Decision:
    """The decision about *url* after asking once."""
    plan = life.ask()
    robots = RobotsTxt.parse(life.held.body) if plan.action is Action.RULES else None
    told = facts(life.held, plan.standing, life.now)
    failed = life.held.unreachable_since is not None
    return Ground(ORIGIN, plan.standing, robots, failed, told).decide(url, ["mybot"], life.now)


def test_rules_decide_and_are_shown() -> None:
    """EXT-02: the verdict is the decision."""
    hops = (Hop("http://example.com/robots.txt", 301),)
    life = Life(policy(), lambda now: FetchResult(status=200, body=FILE.body, hops=hops))
    life.ask()
    life.now += 50
    found = decision(life)
    assert found.verdict is not None
    assert found.verdict.rule is not None
    assert found.verdict.rule.line == 2
    assert found == Decision(False, "rule", found.verdict, "successful", 200, 50.0, hops, ORIGIN)
    assert decision(life, "http://example.com/").allowed


@pytest.mark.parametrize(
    ("attempt", "allowed", "reason", "outcome", "status"),
    [
        (MISSING, True, "unavailable", "unavailable", 404),
        (FetchResult(status=302, redirect_error="loop"), True, "unavailable", "unavailable", 302),
        (FetchResult(status=451), False, "policy", "unavailable", 451),
        (DOWN, False, "unreachable", "unreachable", 503),
        (DEAD, False, "unreachable", "unreachable", None),
    ],
)
def test_decisions_without_rules(
    attempt: FetchResult, allowed: bool, reason: str, outcome: str, status: int | None
) -> None:
    """FET-08, FET-09, FET-10, FET-14."""
    life = Life(policy(status_policy={451: Meaning.DISALLOW}), lambda now: attempt)
    found = decision(life)
    assert found.verdict is None
    assert (found.allowed, found.reason) == (allowed, reason)
    assert (found.outcome, found.status) == (outcome, status)
    failed = outcome == "unreachable"
    assert found.failure == (life.held.failure if failed else None)
    assert bool(found.failure) is failed


def test_a_copy_that_stands_in_says_so() -> None:
    """FET-13: the rules decide, the outcome is the failure's, the age the copy's."""
    life = Life(policy("rfc9309"), lambda now: FILE if now == START else DOWN)
    life.ask()
    life.now += 2 * DAY
    found = decision(life)
    assert (found.allowed, found.reason, found.outcome) == (False, "rule", "unreachable")
    assert (found.status, found.age) == (503, 2 * DAY)


def test_a_failed_refresh_of_a_fresh_copy_is_no_news() -> None:
    """CAC-02: the copy's own outcome stands as long as it is fresh."""
    life = Life(policy(), lambda now: FILE if now == START else DOWN)
    life.ask()
    life.now += 0.9 * DAY
    assert decision(life).outcome == "successful"


def test_the_outcome_is_what_the_answer_means_to_us() -> None:
    """CAC-04: not to the process that fetched it."""
    life = Life(policy(status_policy={403: Meaning.RULES}), lambda now: FetchResult(status=403))
    assert decision(life).outcome == "successful"
    life.policy = policy()
    found = decision(life)
    assert (found.reason, found.outcome, found.status) == ("unavailable", "unavailable", 403)


def test_a_clock_put_back_yields_no_negative_age() -> None:
    """Times come from outside."""
    life = Life(policy(), lambda now: MISSING)
    life.ask()
    life.now -= 30
    assert decision(life).age == 0


@pytest.mark.parametrize("action", [Action.WAIT, Action.REFUSE, Action.DISALLOW, Action.RULES])
def test_without_rules_nothing_is_allowed(action: Action) -> None:
    """FET-10: whoever cannot wait is refused."""
    nothing = Ground(ORIGIN, Standing(action, ""), None, False, (None, None, None, (), None))
    found = nothing.decide(URL, ["mybot"], START)
    assert found == Decision(False, "unreachable", origin=ORIGIN)
