"""Properties of any history of answers, failures and clocks (FET-10 to FET-14).

The expectations are computed from the list of attempts, not from the record.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import MAX_GAP, MAX_RETRY_AFTER, AccessPolicy, Action, Plan
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, DEAD, DOWN, FILE, HOUR, MINUTE, MISSING, Life

BROKEN = FetchResult(status=200, body=b"User-agent: *", complete=False)
FORBIDDEN = FetchResult(status=403)
BRIEF = FetchResult(status=200, body=b"", headers={"cache-control": "max-age=600"})
LATER = FetchResult(status=503, headers={"retry-after": "100000"})
ENDED = FetchResult(status=301, redirect_error="loop")

GOOD = {
    id(FILE): Action.RULES,
    id(BRIEF): Action.RULES,
    id(MISSING): Action.ALLOW,
    id(ENDED): Action.ALLOW,
    id(FORBIDDEN): Action.DISALLOW,
}
BAD = [DOWN, DEAD, BROKEN, LATER]

#: Shortest outage after which a copy stands in, and after which nothing holds without one (FET-12,
#: FET-13).
CLOSED_FOR = dict.fromkeys(EDITIONS, (30 * DAY, 30 * DAY)) | {"google": (DAY / 2, DAY / 2)}

waits = st.one_of(
    st.floats(0, 10),
    st.floats(0, 10 * MINUTE),
    st.floats(0, 2 * DAY),
    st.floats(0, 40 * DAY),
)
jumps = st.floats(-400 * DAY, 400 * DAY)
answers = st.sampled_from([FILE, BRIEF, MISSING, ENDED, FORBIDDEN, *BAD, *BAD])
policies = st.builds(
    AccessPolicy,
    edition=st.sampled_from(list(EDITIONS.values())),
    status_policy=st.just({403: Meaning.DISALLOW}),
    hold_timeout=st.sampled_from([0.0, 10.0, 300.0, 2 * HOUR]),
    retry_times=st.integers(0, 5),
    retry_max_delay=st.sampled_from([1.0, 60.0, 600.0]),
)


@dataclass
class History:
    """A life whose attempts are written down beside the record."""

    policy: AccessPolicy
    life: Life = field(init=False)
    results: list[tuple[float, FetchResult]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.life = Life(self.policy, lambda now: DOWN, jitter=0.3)

    def step(self, wait: float, answer: FetchResult) -> Plan:
        """Time passes, a request comes by; if the policy asks, the origin says *answer*."""
        self.life.now += wait

        def answered(now: float) -> FetchResult:
            self.results.append((now, answer))
            return answer

        self.life.answer = answered
        return self.life.ask()

    @property
    def copy(self) -> tuple[float, FetchResult] | None:
        """The last attempt that was a result."""
        return next((each for each in reversed(self.results) if id(each[1]) in GOOD), None)

    @property
    def lifetime(self) -> float:
        """Seconds for which the copy is fresh (an answer in doubt: FET-20)."""
        answers = [answer for _, answer in reversed(self.results) if id(answer) in GOOD]
        if answers[0] is BRIEF:
            return 600.0
        in_doubt = itertools.takewhile(lambda answer: answer is FORBIDDEN, answers)
        times = sum(1 for _ in in_doubt)
        return min(HOUR * 2 ** (times - 1), DAY) if times else DAY

    @property
    def failures(self) -> list[float]:
        """The times of the failed attempts since then."""
        since = 0 if self.copy is None else self.results.index(self.copy) + 1
        return [time for time, _ in self.results[since:]]

    @property
    def outage(self) -> float:
        """Seconds from the first failure without a gap to the last one; -1 without any."""
        last = start = math.inf
        for at in reversed(self.failures):
            if last - at > MAX_GAP and last is not math.inf:
                break
            last, start = at, min(start, at)
        return self.failures[-1] - start if self.failures else -1.0


@given(policies, st.lists(st.tuples(waits, answers), max_size=40))
def test_nothing_is_ever_allowed_but_by_a_row_of_the_catalogue(
    policy: AccessPolicy, steps: list[tuple[float, FetchResult]]
) -> None:
    """FET-10, FET-12, FET-13, FET-20, CAC-02, with an honest clock."""
    history = History(policy)
    for wait, answer in steps:
        plan = history.step(wait, answer)
        copy, now = history.copy, history.life.now
        if copy is not None and now < copy[0] + history.lifetime:
            assert plan.action is GOOD[id(copy[1])]
            continue
        assert history.failures, "without a fresh copy there was an attempt, and it failed"
        stale_after, nothing_after = CLOSED_FOR[policy.edition.name]
        if plan.action in (Action.WAIT, Action.REFUSE):
            assert history.outage < (stale_after if copy else 30.5 * DAY) or (
                policy.edition.name == "google"
            )
        elif copy is not None:
            assert plan.action is GOOD[id(copy[1])]
            assert history.outage >= stale_after
        else:
            assert plan.action is Action.ALLOW
            assert history.outage >= nothing_after


@given(policies, st.lists(st.tuples(st.one_of(waits, jumps), answers), max_size=40))
def test_no_clock_makes_an_answer_of_a_failure(
    policy: AccessPolicy, steps: list[tuple[float, FetchResult]]
) -> None:
    """Under jumps too: what is allowed was allowed by the last result, or by a limit passed."""
    history = History(policy)
    for wait, answer in steps:
        plan = history.step(wait, answer)
        if plan.action in (Action.WAIT, Action.REFUSE):
            assert history.failures
        elif plan.reason == "limit_passed":
            assert history.copy is None
            assert history.outage >= CLOSED_FOR[policy.edition.name][1]
        else:
            assert history.copy is not None
            assert plan.action is GOOD[id(history.copy[1])]


@given(policies, st.lists(st.tuples(st.one_of(waits, jumps), answers), max_size=40))
def test_no_request_waits_for_ever_and_none_spins(
    policy: AccessPolicy, steps: list[tuple[float, FetchResult]]
) -> None:
    """Every plan asks or has an end in sight, and none has ended already."""
    history = History(policy)
    longest = max(DAY, policy.hold_timeout, policy.retry_max_delay) + 2 * MINUTE
    for wait, answer in steps:
        plan = history.step(wait, answer)
        now = history.life.now
        assert plan.until > now
        assert not plan.ask or policy.retry_delay == 0 or plan.action is not Action.WAIT
        assert plan.until <= now + longest
        before = policy.plan(history.life.record, math.nextafter(plan.until, 0))
        assert before.action is plan.action, "a plan holds until it ends"


@given(policies, st.lists(st.tuples(st.one_of(waits, jumps), answers), max_size=40))
def test_an_origin_that_recovers_is_found_soon(
    policy: AccessPolicy, steps: list[tuple[float, FetchResult]]
) -> None:
    """FET-10: after any history and any clock, its rules count after the longest pause."""
    history = History(policy)
    for wait, answer in steps:
        history.step(wait, answer)
    last = history.results[-1][1] if history.results else None
    demanded = MAX_RETRY_AFTER if last is LATER else 0.0
    pause = max(policy.hold_timeout, policy.retry_max_delay, demanded) + 2 * MINUTE
    limit = history.life.now + pause
    copy = history.copy
    while history.life.now < limit:
        plan = history.step(max(policy.retry_max_delay, pause / 100), FILE)
    if history.copy is copy and copy is not None:
        assert history.life.now < copy[0] + DAY, "only a fresh copy is not asked again"
    else:
        assert plan.action is Action.RULES


@given(policies, st.lists(st.floats(0.1, 100), min_size=5, max_size=60))
def test_a_failing_origin_is_not_pestered(policy: AccessPolicy, waits: list[float]) -> None:
    """FET-11: but for the one attempt that ends the hold, no pause is below its least."""
    history = History(policy)
    for wait in waits:
        history.step(wait, DOWN)
    times = history.failures
    pauses = sorted(b - a for a, b in itertools.pairwise(times))
    least = min(policy.retry_delay, policy.retry_max_delay) * (1 - 0.3 / 2)
    assert all(pause >= least - 1e-6 for pause in pauses[1:])
