"""Origins that are visited in turn, more than the rules cache holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import Resolved

from .fakes import DEAD, DOWN, FILE, MISSING, OTHER_FILE, A, B, C, LookupHarness

if TYPE_CHECKING:
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin

TOKENS = ("x",)
EXTRA = FetchResult(status=200, body=b"User-agent: *\nDisallow: /no\nCrawl-delay: 7\n")
REDIRECTED = replace(FILE, hops=(Hop("http://a.example/robots.txt", 301, "http://b.example/r"),))


def ask(harness: LookupHarness, origin: Origin = A) -> Resolved:
    found = harness.ask(origin)
    assert isinstance(found, Resolved)
    return found


def decide(harness: LookupHarness, origin: Origin = A, path: str = "/page") -> Decision:
    return ask(harness, origin).decide(f"{origin}{path}", TOKENS, harness.clock())


def visited(attempt: FetchResult = FILE, **options: object) -> LookupHarness:
    """A lookup that keeps one origin, and has visited A and B often: A is evicted."""
    harness = LookupHarness(max_bytes=1, **options)  # type: ignore[arg-type]
    for origin in (A, B):
        harness.ask(origin)
        harness.answer(attempt, origin)
    for _ in range(3):
        decide(harness, A)
        decide(harness, B)
    return harness


@pytest.mark.parametrize("path", ["/page", "/no", "/robots.txt"])
@pytest.mark.parametrize("attempt", [FILE, MISSING, EXTRA, REDIRECTED])
def test_a_evicted_origin_is_decided_as_before(attempt: FetchResult, path: str) -> None:
    first = LookupHarness()
    first.ask()
    first.answer(attempt)
    before = ask(first)
    harness = visited(attempt)
    after = ask(harness)
    assert after.decide(f"{A}{path}", TOKENS, 5.0) == before.decide(f"{A}{path}", TOKENS, 5.0)
    assert after.record == before.record
    assert after.valid_until == before.valid_until
    assert after.extensions == before.extensions
    assert (after.robots is None) is (before.robots is None)
    if after.robots is not None and before.robots is not None:
        assert after.robots.body == before.robots.body
        assert after.robots.crawl_delay("y") == before.robots.crawl_delay("y")


def test_a_evicted_origin_is_refreshed_in_time() -> None:
    """CAC-03: eviction prolongs nothing."""
    harness = visited(ttl=100.0)
    harness.pass_time(81.0)
    assert not decide(harness, path="/no").allowed
    assert harness.fetched == [A, B, A]
    harness.answer(OTHER_FILE)
    assert decide(harness, path="/no").allowed
    assert not decide(harness, path="/never").allowed


def test_a_refresh_that_comes_to_nothing_is_started_again_also_if_its_origin_was_evicted() -> None:
    """While it was under way, nothing else was due until the copy expires."""
    harness = visited(ttl=100.0)
    harness.pass_time(81.0)
    for origin in (A, B):
        decide(harness, origin)
    assert ask(harness).valid_until > harness.clock()
    harness.fetching[A].cancel()
    decide(harness)
    assert harness.fetched == [A, B, A, B, A]


def test_a_clock_that_is_put_back_makes_a_evicted_origin_invalid() -> None:
    """As it makes one that is kept invalid."""
    harness = visited()
    harness.ahead = -7200.0
    assert not isinstance(harness.ask(), Resolved)


@pytest.mark.parametrize("attempt", [DEAD, DOWN])
def test_a_evicted_refusal_is_tried_again_in_time(attempt: FetchResult) -> None:
    harness = LookupHarness(max_bytes=1, hold_timeout=0.0, retry_times=0)
    for origin in (A, B):
        harness.ask(origin)
        harness.answer(attempt, origin)
    for _ in range(3):
        assert not decide(harness, A).allowed
        assert not decide(harness, B).allowed
    assert ask(harness).action is Action.REFUSE
    assert ask(harness).unreachable
    harness.pass_time(ask(harness).valid_until - harness.clock())
    harness.ask()
    assert harness.fetched == [A, B, A]
    harness.answer(FILE)
    assert decide(harness).allowed


def test_a_page_that_answers_is_noted_in_the_record_of_a_evicted_origin() -> None:
    """FET-12: also where its rules were evicted."""
    harness = visited(DOWN, hold_timeout=0.0, retry_times=0)
    harness.lookup.page_answered(A)
    record = ask(harness).record
    assert record is not None
    assert record.pages_answered_at == harness.clock()


def test_a_evicted_origin_in_the_temporary_file_is_decided_as_before() -> None:
    harness = LookupHarness(max_bytes=1)
    harness.memory._table.max_number, harness.memory._max_spilled = 1, 10
    for origin in (A, B, C):
        harness.ask(origin)
        harness.answer(FILE, origin)
    for _ in range(4):
        for origin in (A, B, C):
            assert decide(harness, origin).allowed
            assert not decide(harness, origin, "/no").allowed
    assert harness.fetched == [A, B, C]


def test_a_page_of_a_kept_reachable_origin_decodes_no_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every page answers; decoding a record with a long file takes a millisecond."""
    harness = LookupHarness()
    harness.ask()
    harness.answer(FILE)

    def decode(origin: Origin) -> None:
        raise AssertionError(f"the record of {origin} was decoded")

    monkeypatch.setattr(harness.memory, "get", decode)
    harness.lookup.page_answered(A)
