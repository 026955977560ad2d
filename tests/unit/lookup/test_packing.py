"""Origins that are visited in turn, more than the rules cache holds."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES

from .fakes import DEAD, DOWN, FILE, MISSING, OTHER_FILE, A, B, C, LookupHarness

if TYPE_CHECKING:
    from scrapy_robotspec.access.decision import Decision

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
    """A lookup that keeps one origin, and has visited A and B often: A is packed."""
    harness = LookupHarness(max_bytes=1, **options)  # type: ignore[arg-type]
    for origin in (A, B):
        harness.ask(origin)
        harness.answer(attempt, origin)
    for _ in range(3):
        decide(harness, A)
        decide(harness, B)
    assert is_packed(harness)
    return harness


def is_packed(harness: LookupHarness, origin: Origin = A) -> bool:
    stored = harness.memory.get_stored(origin)
    return stored is not None and stored[1] is not None


@pytest.mark.parametrize("path", ["/page", "/no", "/robots.txt"])
@pytest.mark.parametrize("attempt", [FILE, MISSING, EXTRA, REDIRECTED])
def test_a_packed_origin_is_decided_as_before(attempt: FetchResult, path: str) -> None:
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


def test_no_visit_of_a_packed_origin_fetches() -> None:
    harness = visited()
    for _ in range(100):
        decide(harness, A)
        decide(harness, B)
    assert harness.fetched == [A, B]


def test_an_origin_that_is_visited_once_is_not_packed() -> None:
    """Packing takes longer than a decision, and most crawls of that size never come back."""
    harness = LookupHarness(max_bytes=1)
    for origin in (A, B, C):
        harness.ask(origin)
        harness.answer(FILE, origin)
        decide(harness, origin)
    assert not is_packed(harness, A)
    assert not is_packed(harness, B)


def test_compiled_rules_are_packed_also_after_one_visit() -> None:
    """Then the second visit needs neither the record nor its file."""
    harness = LookupHarness(max_bytes=1)
    harness.ask(A)
    harness.answer(FILE, A)
    for number in range(10):
        assert decide(harness, path=f"/page/{number}").allowed
    harness.ask(B)
    harness.answer(FILE, B)
    assert is_packed(harness, A)
    assert not decide(harness, path="/no").allowed


def test_an_origin_that_is_asked_often_is_kept_again() -> None:
    harness = visited()
    assert any(ask(harness) is ask(harness) for _ in range(20))


def test_a_packed_origin_is_known_without_its_record() -> None:
    """The scheduler asks for each origin whose queue was empty; decoding takes most of the time."""
    harness = visited(ttl=100.0)
    harness.memory._records[str(A)] = b"not decodable"
    assert harness.lookup.knows(A, harness.clock())
    harness.pass_time(101.0)
    assert not harness.lookup.knows(A, harness.clock())


def test_a_packed_origin_is_refreshed_in_time() -> None:
    """CAC-03: packing prolongs nothing."""
    harness = visited(ttl=100.0)
    harness.pass_time(81.0)
    assert not decide(harness, path="/no").allowed
    assert harness.fetched == [A, B, A]
    harness.answer(OTHER_FILE)
    assert not is_packed(harness)
    assert decide(harness, path="/no").allowed
    assert not decide(harness, path="/never").allowed


def test_a_refresh_that_comes_to_nothing_is_started_again_also_if_its_origin_was_packed() -> None:
    """While it was under way, nothing else was due until the copy expires."""
    harness = visited(ttl=100.0)
    harness.pass_time(81.0)
    for origin in (A, B):
        decide(harness, origin)
    assert is_packed(harness)
    assert ask(harness).valid_until > harness.clock()
    harness.fetching[A].cancel()
    decide(harness)
    assert harness.fetched == [A, B, A, B, A]


def test_a_packed_origin_expires() -> None:
    harness = visited(ttl=100.0)
    harness.pass_time(101.0)
    assert not isinstance(harness.ask(), Resolved)


def test_a_clock_that_is_put_back_makes_a_packed_origin_invalid() -> None:
    """As it makes one that is kept invalid."""
    harness = visited()
    harness.ahead = -7200.0
    assert not isinstance(harness.ask(), Resolved)


@pytest.mark.parametrize("attempt", [DEAD, DOWN])
def test_a_packed_refusal_is_tried_again_in_time(attempt: FetchResult) -> None:
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


def test_a_page_that_answers_is_noted_in_the_record_of_a_packed_origin() -> None:
    """FET-12: what was packed before is dropped with the record."""
    harness = visited(DOWN, hold_timeout=0.0, retry_times=0)
    harness.lookup.page_answered(A)
    record = ask(harness).record
    assert record is not None
    assert record.pages_answered_at == harness.clock()


@pytest.mark.parametrize("packed", [True, False])
def test_a_page_of_a_reachable_origin_decodes_no_record(
    packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page answers; decoding a record with a long file takes a millisecond."""
    harness = visited() if packed else LookupHarness()
    harness.ask()
    if not packed:
        harness.answer(FILE)

    def decode(origin: Origin) -> None:
        raise AssertionError(f"the record of {origin} was decoded")

    monkeypatch.setattr(harness.memory, "get", decode)
    harness.lookup.page_answered(A)


def test_another_crawler_is_answered_from_the_file() -> None:
    harness = visited(FetchResult(status=200, body=b"User-agent: y\nDisallow: /\n"))
    assert ask(harness).decide(f"{A}/page", TOKENS, 5.0).allowed
    assert not ask(harness).decide(f"{A}/page", ("y",), 5.0).allowed


def test_a_packed_origin_in_the_temporary_file_is_decided_as_before() -> None:
    harness = LookupHarness(max_bytes=1)
    harness.memory.max_records, harness.memory._max_spilled = 1, 10
    for origin in (A, B, C):
        harness.ask(origin)
        harness.answer(FILE, origin)
    for _ in range(4):
        for origin in (A, B, C):
            assert decide(harness, origin).allowed
            assert not decide(harness, origin, "/no").allowed
    assert sum(is_packed(harness, origin) for origin in (A, B, C)) == 2  # one is in the cache
    assert harness.fetched == [A, B, C]


PLAIN = "".join(f"Disallow: /private/{n}/\n" for n in range(30))
WILD = "".join(f"Disallow: /*x{n}*y\n" for n in range(100))
LONG = f"Disallow: /x1\n\nUser-agent: y\n{PLAIN * 100}"


@pytest.mark.parametrize(
    "rules", [PLAIN, WILD, LONG, ""], ids=["usual", "wildcards", "long groups of others", "empty"]
)
def test_memory_stays_within_the_bound_with_unpacked_origins(rules: str) -> None:
    """Their rules, and records that the store may have deleted since.

    Not the file, which is read again for the text of a rule.
    """
    bound = MAX_BYTES // 64
    harness = LookupHarness(max_bytes=1)
    origins = [Origin("http", f"{n}.example", 80) for n in range(400)]
    for number, origin in enumerate(origins):
        harness.ask(origin)
        body = f"User-agent: *\n{rules}#{number}\n".encode()
        harness.answer(FetchResult(status=200, body=body), origin)
        decide(harness, origin)
    for _ in range(3):
        for origin in origins:
            decide(harness, origin)
    assert sum(is_packed(harness, origin) for origin in origins) >= 390
    harness.lookup._rules_cache._max_bytes = bound
    harness.announced.clear()
    harness.ended.clear()
    tracemalloc.start()
    try:
        for _ in range(16):
            for origin in origins:
                decide(harness, origin, "/x1ay")  # also makes the rules of the wildcards
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(harness.lookup._rules_cache._resolved) > 20
    assert used < bound
