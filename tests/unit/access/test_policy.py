"""Lifetimes and refreshing (CAC-01 to CAC-06), also under clocks that jump."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.outcome import FetchResult, Hop, Meaning
from scrapy_robotspec.access.policy import ASK_FIRST, Action, Plan
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, DEAD, DOWN, FILE, HOUR, MISSING, ORIGIN, START, Life, policy

every_edition = pytest.mark.parametrize("edition", EDITIONS)


@every_edition
@pytest.mark.parametrize(
    ("attempt", "action", "reason"),
    [
        (FILE, Action.RULES, ""),
        (MISSING, Action.ALLOW, "unavailable"),
        (FetchResult(status=302, redirect_error="loop"), Action.ALLOW, "unavailable"),
        (FetchResult(status=410), Action.DISALLOW, "policy"),
    ],
)
def test_cac01_cac06_a_result_lives_a_day_and_is_refreshed_late_in_its_life(
    edition: str, attempt: FetchResult, action: Action, reason: str
) -> None:
    """CAC-01, CAC-05, CAC-06: a 4xx and a chain that counts as 404 as long as a file."""
    rules = policy(edition, status_policy={410: Meaning.DISALLOW})
    assert rules.plan(None, START) == ASK_FIRST
    record = rules.apply(None, ORIGIN, attempt, START, 0)
    refresh, end = START + 0.8 * DAY, START + DAY
    assert rules.plan(record, START) == Plan(action, reason, False, refresh)
    assert rules.plan(record, refresh - 1) == Plan(action, reason, False, refresh)
    assert rules.plan(record, refresh) == Plan(action, reason, True, end)
    assert rules.plan(record, end - 1) == Plan(action, reason, True, end)
    assert rules.plan(record, end) == ASK_FIRST


@pytest.mark.parametrize("failed", [DEAD, DOWN], ids=["no answer", "503"])
def test_cac02_a_refresh_that_failed_is_tried_again_after_its_pause(failed: FetchResult) -> None:
    """CAC-02: the fresh copy decides; no request starts an attempt before the next one is due."""
    rules = policy()
    refreshed = START + 0.9 * DAY
    record = rules.apply(None, ORIGIN, FILE, START, 0)
    record = rules.apply(record, ORIGIN, failed, refreshed, 0)
    due, end = refreshed + rules.retry_delay, START + DAY
    assert rules.plan(record, refreshed) == Plan(Action.RULES, "", False, due)
    assert rules.plan(record, due) == Plan(Action.RULES, "", True, end)


def test_cac04_a_record_keeps_the_answer_and_nothing_of_the_crawler() -> None:
    """CAC-04: bytes, times, hops; the body only where it holds rules."""
    hops = (Hop("http://example.com/robots.txt", 301),)
    headers = {"content-type": "text/html", "cache-control": "max-age=600"}
    attempt = FetchResult(status=200, body=b"allow:", hops=hops, headers=headers, truncated=True)
    assert policy().apply(None, ORIGIN, attempt, START, 0) == RobotsRecord(
        ORIGIN,
        meaning=Meaning.RULES,
        status=200,
        body=b"allow:",
        truncated=True,
        hops=hops,
        fetched_at=START,
        expires_at=START + 600,
        content_type="text/html",
    )
    assert policy().apply(None, ORIGIN, MISSING, START, 0).body == b""
    endless = FetchResult(status=200, headers={"content-type": "x" * 60_000})
    assert len(policy().apply(None, ORIGIN, endless, START, 0).to_bytes()) < 1000


@every_edition
def test_cac02_a_failed_refresh_leaves_a_fresh_copy_in_use(edition: str) -> None:
    """CAC-02: nothing is forgotten, attempts are paced."""
    life = Life(policy(edition), lambda now: FILE if now < START + HOUR else DOWN)
    life.ask()
    life.now = START + 0.8 * DAY
    stances = life.live(0.2 * DAY - 60, every=30)
    assert stances == [(0.8 * DAY, "rules")]
    assert life.record is not None
    assert life.record.body == FILE.body
    pauses = [b - a for a, b in zip(life.attempts[1:], life.attempts[2:], strict=False)]
    assert 30 <= min(pauses) <= max(pauses) <= 60


def test_cac04_a_shared_answer_is_judged_by_our_own_edition_and_policy() -> None:
    """The answer is shared, not what another process made of it."""
    stands = FetchResult(status=429)
    answered = policy("google-2019", hold_timeout=0).apply(None, ORIGIN, stands, START, 0)
    assert policy("google-2019").plan(answered, START).action is Action.ALLOW
    assert policy("google").plan(answered, START).action is Action.WAIT
    strict = policy(status_policy={429: Meaning.DISALLOW})
    assert strict.plan(answered, START).action is Action.DISALLOW
    lenient = strict.apply(None, ORIGIN, stands, START, 0)
    assert policy().plan(lenient, START).action is Action.ALLOW


def test_cac03_a_lifetime_set_under_other_settings_is_cut_to_ours() -> None:
    """CAC-03: the longest that our own settings allow."""
    week = policy(ttl=7 * DAY).apply(None, ORIGIN, FILE, START, 0)
    assert policy(ttl=7 * DAY).plan(week, START + 2 * DAY).action is Action.RULES
    assert policy().plan(week, START + 2 * DAY).action is Action.WAIT


@pytest.mark.parametrize("back", [2 * HOUR, 365 * DAY])
def test_a_record_from_the_future_is_not_fresh_for_ever(back: float) -> None:
    """The clock was put back: one fetch, and all is well."""
    life = Life(policy(), lambda now: FILE)
    life.ask()
    life.now -= back
    assert life.policy.plan(life.record, life.now) == ASK_FIRST
    assert life.ask() == Plan(Action.RULES, "", False, life.now + 0.8 * DAY)
    neighbour = policy().apply(None, ORIGIN, FILE, START + 30, 0)  # with a faster clock
    assert policy().plan(neighbour, START).action is Action.RULES


@pytest.mark.parametrize("jump", [-365 * DAY, -HOUR, HOUR, 365 * DAY])
@pytest.mark.parametrize("failure", [DOWN, DEAD])
def test_a_jump_while_unreachable_only_makes_us_ask(jump: float, failure: FetchResult) -> None:
    """No action comes of a jump alone, and no origin stays closed because of one."""
    life = Life(policy(), lambda now: failure)
    life.live(HOUR)
    life.now += jump
    assert life.policy.plan(life.record, life.now).ask
    assert life.policy.plan(life.record, life.now).action is Action.WAIT
    life.answer = lambda now: MISSING
    assert life.ask().action is Action.ALLOW


def test_a_hold_that_began_in_the_future_restarts() -> None:
    """The clock was put back while an origin failed: its requests wait a hold, not for ever."""
    life = Life(policy(), lambda now: DOWN)
    life.live(100, every=1)
    life.now -= 30 * DAY
    begin = life.now - START
    assert life.live(400, every=1) == [(begin, "wait"), (begin + 300, "refuse")]


def test_pages_that_answer_are_noted_once_a_minute() -> None:
    """FET-12: a note on every page would be a write on every page."""
    rules = policy("google")
    answered = rules.apply(None, ORIGIN, FILE, START, 0)
    assert rules.page_answered(answered, START + 1) is answered
    failing = rules.apply(answered, ORIGIN, DOWN, START + 10, 0)
    noted = rules.page_answered(failing, START + 20)
    assert noted.pages_answered_at == START + 20
    assert rules.page_answered(noted, START + 30) is noted
    assert rules.page_answered(noted, START + 80).pages_answered_at == START + 80
    assert rules.page_answered(noted, START).pages_answered_at == START  # a clock put back


def test_redirects_of_a_failure_are_kept_while_there_is_no_copy() -> None:
    """A report shows the whole way; a copy keeps its own."""
    here, there = (Hop(f"http://{name}.example/robots.txt", 301) for name in ("a", "b"))
    down = FetchResult(status=503, hops=(here,))
    failed = policy().apply(None, ORIGIN, down, START, 0.0)
    assert failed.hops == (here,)
    copy = policy().apply(failed, ORIGIN, FetchResult(status=404, hops=(there,)), START + 1, 0.0)
    assert policy().apply(copy, ORIGIN, down, START + 2, 0.0).hops == (there,)
