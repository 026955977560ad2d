"""What the lookup says agrees with the record, whatever servers answer and clocks show.

The record beside it is made by the policy alone, from the same results at the same times.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE

from .fakes import A, B, LookupHarness

BODIES = [b"", b"User-agent: *\nDisallow: /no\n", b"<html>", b"User-agent: *\nDisallow: /*.pdf$\n"]
HEADERS: list[dict[str, str]] = [
    {},
    {"cache-control": "max-age=30"},
    {"retry-after": "40"},
    {"retry-after": "100000"},
    {"content-type": "text/html"},
]
HOP = Hop("http://a.example/robots.txt", 301, "http://b.example/robots.txt")

answers = st.builds(
    FetchResult,
    status=st.sampled_from([200, 200, 204, 206, 401, 403, 404, 408, 410, 425, 429, 500, 503]),
    body=st.sampled_from(BODIES),
    headers=st.sampled_from(HEADERS),
    hops=st.sampled_from([(), (HOP,), (HOP,) * 5]),
    redirect_error=st.sampled_from([None, None, None, "loop"]),
    complete=st.sampled_from([True, True, False]),
    truncated=st.booleans(),
)
failures = st.builds(
    FetchResult,
    error=st.sampled_from(["no answer within 30 s", "host name not found"]),
    local=st.booleans(),
    hops=st.sampled_from([(), (HOP,)]),
)
origins = st.sampled_from([A, B])


class Agreement(RuleBasedStateMachine):
    """One process with free slots; each origin's record is kept a second time."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = LookupHarness(limit=100, ttl=100.0, hold_timeout=60.0)
        self.records: dict[Origin, RobotsRecord | None] = {A: None, B: None}
        self.due: set[Origin] = set()
        self.fetches = 0

    @initialize(edition=st.sampled_from(sorted(EDITIONS)))
    def choose_edition(self, edition: str) -> None:
        self.harness.access = replace(self.harness.access, edition=EDITIONS[edition])

    @rule(origin=origins)
    def ask(self, origin: Origin) -> None:
        """The plan for the record is what is said, and a fetch is started if it asks for one."""
        now, record = self.harness.clock(), self.records[origin]
        plan = self.harness.access.plan(record, now)
        kept = self.harness.lookup.rules.get_valid(origin, now)
        was_fetched = origin in self.harness.fetching
        found = self.harness.ask(origin)
        if kept is None:
            self.fetches += plan.ask and not was_fetched
            assert (origin in self.harness.fetching) == (plan.ask or was_fetched)
        if isinstance(found, Pending):
            assert plan.action is Action.WAIT
            is_fetched = origin in self.harness.fetching
            assert found.until == (math.inf if is_fetched else plan.until)
            return
        assert record is not None
        assert (found.action, found.reason) == (plan.action, plan.reason)
        assert found.record == record
        assert (found.robots is not None) == (plan.action is Action.RULES)
        assert found.robots is None or found.robots.body == record.body
        assert found.valid_until <= plan.until
        assert not plan.ask or found.valid_until <= now + RETRY_PAUSE

    @rule(origin=origins, result=answers | failures)
    def server_answers(self, origin: Origin, result: FetchResult) -> None:
        """The policy makes the next record; what is reported at the end of the fetch is of it."""
        if origin not in self.harness.fetching:
            return
        now, held = self.harness.clock(), self.records[origin]
        record = self.harness.access.apply(held, origin, result, now, self.harness.jitter)
        self.records[origin] = record
        self.harness.answer(result, origin)
        done = self.harness.ended[-1]
        assert (done.record, done.base, done.result) == (record, held, result)
        plan = self.harness.access.plan(record, now)
        assert isinstance(done.found, Resolved) == (plan.action is not Action.WAIT)

    @rule(origin=origins)
    def page_answers(self, origin: Origin) -> None:
        self.harness.page_answered(origin)
        record = self.records[origin]
        if record is not None:
            now = self.harness.clock()
            self.records[origin] = self.harness.access.page_answered(record, now)

    @rule(seconds=st.sampled_from([0.01, 0.5, 1.0, 5.0, 61.0, 85.0, 101.0, 86_400.0, 3e6]))
    def time_passes(self, seconds: float) -> None:
        self.harness.pass_time(min(seconds, 1.0))
        self.harness.ahead += max(0.0, seconds - 1.0)

    @rule(seconds=st.sampled_from([-3e6, -86_400.0, -400.0, 400.0]))
    def clock_jumps(self, seconds: float) -> None:
        self.harness.ahead += seconds

    @invariant()
    def every_fetch_was_asked_for_and_has_one_end(self) -> None:
        harness = self.harness
        assert len(harness.fetched) == self.fetches
        assert len(harness.fetched) == len(harness.ended) + len(harness.fetching)
        assert len(harness.limiter) == len(harness.fetching)

    @invariant()
    def the_record_is_the_one_that_the_results_make(self) -> None:
        assert {each: self.harness.memory.get(each) for each in (A, B)} == self.records

    @invariant()
    def an_origin_is_known_if_its_requests_need_not_wait(self) -> None:
        now = self.harness.clock()
        for origin, record in self.records.items():
            plan = self.harness.access.plan(record, now)
            assert self.harness.lookup.knows(origin) == (plan.action is not Action.WAIT)


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
