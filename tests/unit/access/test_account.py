"""The account of a crawl: each decision has one outcome, and counts add up however they move."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.account import OUTCOMES, Group, RequestCounts, outcome_of

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
NAMES = [row.name for row in OUTCOMES]
REFUSED = [row.name for row in OUTCOMES if row.group is Group.REFUSED]


@pytest.mark.parametrize(
    ("allowed", "reason"), [(each, name) for name, both in REASONS.items() for each in both]
)
def test_every_decision_has_one_outcome(allowed: bool, reason: str) -> None:
    rows = [
        row
        for row in OUTCOMES
        if reason in row.reasons and (row.group is Group.REFUSED) is not allowed
    ]
    assert [row.name for row in rows] == [outcome_of(allowed, reason)]


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
            counts.add(outcome)
            last = outcome
            if second is not None:
                left = sent and not goes and second in REFUSED
                counts.undo(outcome, sent=left)
                counts.add(second)
                after_sending += left
                last = second
            if goes:
                counts.undo(last)
            else:
                wanted[last] += 1
    assert {name: number for name, number in counts.by_outcome.items() if number} == wanted
    assert sum(map(counts.of, Group)) == len(stay)
    assert counts.after_sending == after_sending
    assert list(counts.to_json()) == [*NAMES, "after_sending", "not_sent"]


def test_pages_that_were_not_sent_are_the_rest() -> None:
    """Let through, not checked and refused after sending: sent or answered by a cache."""
    counts = RequestCounts()
    for outcome in ("rules", "rules", "override", "dont_obey_robotstxt", "no_robots_txt"):
        counts.add(outcome)
    counts.add("refused_rule")
    counts.sent = 3
    counts.undo("rules", sent=True)
    counts.add("refused_usage")
    assert counts.not_sent == 1
