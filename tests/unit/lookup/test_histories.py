"""Whatever happens in any order: every waiter gets one answer, every origin one fetch at a time.

Two processes share a store. Requests come, servers answer, threads lag, waiters give up, time
passes, clocks jump, until one process closes in the middle of it all; then the other must come to
its end.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import Resolved
from tests.support.stores import SharedStore, take

from .fakes import DEAD, DOWN, FILE, LEASE, MISSING, OTHER_FILE, A, B, C, LookupHarness, Waiter

origins = st.sampled_from([A, B, C])
attempts = st.sampled_from([FILE, FILE, OTHER_FILE, MISSING, DOWN, DEAD])
processes = st.sampled_from([0, 1])


class Histories(RuleBasedStateMachine):
    """Events in any order, and the invariants after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.time, self.shared = Clock(), SharedStore()
        self.harnesses = [self._world("one"), self._world("two")]
        self.waiters: list[tuple[LookupHarness, Waiter]] = []
        self.given_up: list[Waiter] = []

    def _world(self, owner: str) -> LookupHarness:
        harness = LookupHarness(self.shared, owner=owner, limit=1, time=self.time)
        harness.threads.at_once = False
        return harness

    @rule(process=processes, origin=origins)
    def ask(self, process: int, origin: object) -> None:
        self.harnesses[process].ask(origin)  # type: ignore[arg-type]

    @rule(process=processes, origin=origins)
    def wait(self, process: int, origin: object) -> None:
        harness = self.harnesses[process]
        self.waiters.append((harness, harness.wait_for(origin)))  # type: ignore[arg-type]

    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        if self.waiters:
            number = data.draw(st.integers(0, len(self.waiters) - 1))
            harness, waiter = self.waiters.pop(number)
            before = set(harness.fetching)
            waiter.cancel()
            assert set(harness.fetching) == before
            self.given_up.append(waiter)

    @rule(process=processes, attempt=attempts, data=st.data())
    def server_answers(self, process: int, attempt: object, data: st.DataObject) -> None:
        harness = self.harnesses[process]
        if harness.fetching:
            origin = data.draw(st.sampled_from(sorted(harness.fetching, key=str)))
            harness.answer(attempt, origin)  # type: ignore[arg-type]

    @rule(process=processes, seconds=st.sampled_from([0.0, 0.001, 0.3, 2.0]))
    def machine_is_slow(self, process: int, seconds: float) -> None:
        """This much time passes from one look at the clock to the next."""
        self.harnesses[process].step = seconds

    @rule(process=processes)
    def thread_works(self, process: int) -> None:
        self.harnesses[process].threads.work()

    @rule(process=processes)
    def thread_brings(self, process: int) -> None:
        self.harnesses[process].threads.bring()

    @rule(seconds=st.sampled_from([0.01, 0.5, 5.0, 70.0, 86_400.0]))
    def time_passes(self, seconds: float) -> None:
        self.time.advance(seconds)

    @rule(process=processes, seconds=st.sampled_from([-86_400.0, -70.0, 0.5, 70.0, 86_400.0]))
    def clock_jumps(self, process: int, seconds: float) -> None:
        """Of one machine; delayed calls do not jump with it."""
        self.harnesses[process].ahead += seconds

    @rule()
    def first_process_closes(self) -> None:
        self.harnesses[0].lookup.stop()

    @invariant()
    def no_request_is_answered_twice(self) -> None:
        """That no origin has two fetches in one process is asserted where they begin."""
        assert all(len(waiter.came) <= 1 for _, waiter in self.waiters)
        assert all(len(waiter.came) == 1 for waiter in self.given_up)

    @invariant()
    def places_are_bounded(self) -> None:
        assert all(len(harness.fetching) <= 8 for harness in self.harnesses)
        assert all(len(harness.limiter) <= 8 for harness in self.harnesses)

    def teardown(self) -> None:
        """Close the first process for good; every waiter of the second must be answered."""
        first, second = self.harnesses
        first.step = second.step = 0.0
        assert first.close()
        second.threads.at_once = True
        second.threads.run()
        for _ in range(400):
            for origin in list(second.fetching):
                second.answer(FILE, origin)
            if all(waiter.came for _, waiter in self.waiters):
                break
            self.time.advance(1.0)
        for harness, waiter in self.waiters:
            (came,) = waiter.came
            if harness is second:
                assert isinstance(came, Resolved)
                assert came.action is not Action.WAIT
            else:
                assert isinstance(came, Resolved | CancelledError)
        for origin in list(second.fetching):
            second.answer(FILE, origin)
        assert second.close()
        assert len(second.limiter) == 0
        for origin in (A, B, C):
            assert take(self.shared, origin, "a third one", second.clock(), LEASE)


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40)
