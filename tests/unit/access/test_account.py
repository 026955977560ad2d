"""The account of a crawl: each decision has one outcome, and counts add up however they move."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.account import (
    ANSWERED,
    RequestCounts,
    WaitEnd,
    answer_in_words,
    outcome_of,
    wait_end,
)
from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.reasons import (
    ANSWERS,
    EXEMPT,
    NO_ROBOTS_TXT,
    NO_RULES,
    OUTCOMES,
    Group,
)

from .simulation import DEAD, DOWN, FILE, MISSING, Life, policy

#: Every reason that a decision may have, with what it may decide.
REASONS = {
    "rule": (True, False),
    "no_rule": (True,),
    "no_group": (True,),
    "robots_txt_itself": (True,),
    "unavailable": (True,),
    "unreachable": (True, False),
    "limit_passed": (True,),
    "policy": (False,),
    "override": (True, False),
    "usage": (False,),
}
NAMES = list(OUTCOMES)
REFUSED = [name for name, row in OUTCOMES.items() if row.group is Group.REFUSED]


@pytest.mark.parametrize(
    ("allowed", "reason"), [(each, name) for name, both in REASONS.items() for each in both]
)
def test_every_decision_has_one_outcome(allowed: bool, reason: str) -> None:
    assert (outcome_of(allowed, reason) in REFUSED) is not allowed


def test_every_outcome_has_a_decision() -> None:
    """All but that of a URL without a robots.txt, about which nobody decides."""
    decisions = [(each, name) for name, both in REASONS.items() for each in both]
    found = {outcome_of(*decision) for decision in [*decisions, (True, EXEMPT)]}
    assert found == set(NAMES) - {NO_ROBOTS_TXT}


def test_an_unknown_reason_has_no_outcome() -> None:
    """A log of decisions may contain anything (SAF-05)."""
    with pytest.raises(KeyError):
        outcome_of(True, "policy")
    with pytest.raises(KeyError):
        outcome_of(False, "")


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[str, bool, str | None]]:
    """Requests: outcome, whether it was sent, and the outcome after a second decision."""
    one = st.tuples(st.sampled_from(NAMES), st.booleans(), st.none() | st.sampled_from(NAMES))
    return draw(st.lists(one, max_size=30))


@given(lives(), lives())
def test_counts_add_up_however_requests_move(
    stay: list[tuple[str, bool, str | None]], go_back: list[tuple[str, bool, str | None]]
) -> None:
    """Each request that stays counts once, under its last outcome; one that goes back never."""
    counts, wanted, after_sending = RequestCounts(), Counter[str](), 0
    for lots, goes in ((stay, False), (go_back, True)):
        for outcome, sent, second in lots:
            counts.by_outcome[outcome] += 1
            last = outcome
            if second is not None:
                left = sent and not goes and second in REFUSED
                counts.undo(outcome, sent=left)
                counts.by_outcome[second] += 1
                after_sending += left
                last = second
            if goes:
                counts.undo(last)
            else:
                wanted[last] += 1
    assert {name: number for name, number in counts.by_outcome.items() if number} == wanted
    assert sum(map(counts.in_group, Group)) == len(stay)
    assert counts.after_sending == after_sending
    assert list(counts.to_json()) == [*NAMES, "after_sending", ANSWERED, "not_sent"]


def test_pages_that_were_not_sent_are_the_rest() -> None:
    """Let through, not checked and refused after sending: sent or answered by a cache."""
    counts = RequestCounts()
    for outcome in ("rules", "rules", "override", "dont_obey_robotstxt", "no_robots_txt"):
        counts.by_outcome[outcome] += 1
    counts.by_outcome["refused_rule"] += 1
    counts.sent = 3
    counts.undo("rules", sent=True)
    counts.by_outcome["refused_usage"] += 1
    assert counts.not_sent == 1
    counts.answered = 1  # by another middleware, which may have sent it
    assert counts.not_sent == 0


# --- origins

BUSY = FetchResult(status=429)
CLOSED = {"4xx": Meaning.DISALLOW}


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (FILE, "rules"),
        (FetchResult(status=200), NO_RULES),
        (FetchResult(status=200, body=b"# nothing\n\n# here\n"), NO_RULES),
        (FetchResult(status=200, body=b"Sitemap: http://example.com/s.xml\n"), NO_RULES),
        (FetchResult(status=200, body=b"User-agent: *\nDisalow: /\n"), "rules"),
        (FetchResult(status=200, body=b"<html></html>"), "no robots.txt: HTML page"),
        (FetchResult(status=202), "HTTP status 202"),
        (FetchResult(302, redirect_error="loop"), "HTTP status 302, loop (all allowed)"),
        (MISSING, "allow"),
        (FetchResult(status=403), "HTTP status 403 (all allowed)"),
        (DOWN, "unreachable"),
        (DEAD, "unreachable"),
    ],
    ids=str,
)
def test_the_answer_of_an_origin(result: FetchResult, answer: str) -> None:
    """FET-20: "with rules" is said of files that have some, "no robots.txt" of no status."""
    life = Life(policy(), lambda now: result)
    life.ask()
    assert life.held is not None
    words = ANSWERS[answer].short if answer in ANSWERS else answer
    assert answer_in_words(life.held) == words


@pytest.mark.parametrize("status", [403, 410])
def test_a_status_that_the_policy_disallows_is_not_in_doubt(status: int) -> None:
    """FET-09, FET-20: both read alike, as the user has decided about them."""
    life = Life(policy(status_policy=CLOSED), lambda now: FetchResult(status=status))
    life.ask()
    assert life.held is not None
    assert answer_in_words(life.held) == "disallowed by policy"


@pytest.mark.parametrize(
    ("given", "answers", "words", "result"),
    [
        ({}, [FILE], "has answered", "with rules"),
        ({}, [MISSING], "has answered", "without a file (all allowed)"),
        ({}, [DOWN, FILE], "has answered after 2 attempts (HTTP status 503)", "with rules"),
        ({}, [BUSY, BUSY, FILE], "has answered after 3 attempts (HTTP status 429)", "with rules"),
        ({}, [BUSY] * 3, "given up after 3 attempts (HTTP status 429)", "no restrictions"),
        (
            {"status_policy": CLOSED},
            [BUSY] * 3,
            "given up after 3 attempts (HTTP status 429)",
            "disallowed by policy",
        ),
        ({}, [DEAD] * 3, "given up after 3 attempts (DNS lookup failed)", None),
        ({"hold_timeout": 0.0}, [DOWN], "given up after 1 attempt (HTTP status 503)", None),
        (
            {"unreachable": "allow"},
            [DOWN],
            "given up after 1 attempt (HTTP status 503)",
            "no restrictions",
        ),
        (
            {"edition": {"base": "google-2019", "stale_after": 0}, "ttl": 300.0},
            [FILE, DOWN],
            "is unreachable after 1 attempt (HTTP status 503)",
            "its last copy decides",
        ),
    ],
    ids=str,
)
def test_the_end_of_a_wait_names_its_cause(
    given: dict[str, Any], answers: list[FetchResult], words: str, result: str | None
) -> None:
    """FET-11, FET-19: a 429 that stands is given up, although it counts as an answer then."""
    edition = given.pop("edition", "google-2019")
    turn = iter(answers)
    life = Life(policy(edition, **given), lambda now: next(turn))
    before, plan = None, life.ask()
    for _ in answers[1:]:
        before = life.held
        assert before is not None
        life.now = max(before.next_attempt or 0.0, before.expires_at or 0.0)
        plan = life.ask()
    assert life.held is not None
    end = wait_end(before, life.held, plan.reason)
    assert end.words == words
    if plan.action is Action.REFUSE:
        assert (end.end, result) == ("given_up", None)
    else:
        allows = plan.action is Action.ALLOW
        assert end.result(life.held, allows=allows) == result


def test_a_failure_from_a_shared_store_cannot_steer_the_log() -> None:
    """SAF-04."""
    end = WaitEnd("given_up", 2, "\x1b[2J\n")
    assert end.words == "given up after 2 attempts (\\x1b[2J\\n)"
