"""Whether origins are evicted or not changes no decision and no fetch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.store.memory import MemoryStore

from .fakes import DEAD, DOWN, FILE, MISSING, OTHER_FILE, A, B, C, LookupHarness

OTHERS = FetchResult(
    status=200,
    body=b"User-agent: x\nAllow: /no/*.html$\nDisallow: /no\n\nUser-agent: *\nDisallow: /\n",
)
EXTRA = FetchResult(status=200, body=b"User-agent: *\nDisallow: /no\nCrawl-delay: 7\n")
REDIRECTED = replace(FILE, hops=(Hop("http://a.example/robots.txt", 301, "http://b.example/r"),))
ANSWERS = [FILE, OTHER_FILE, OTHERS, EXTRA, REDIRECTED, MISSING, DOWN, DEAD]
PATHS = ["/", "/no", "/no/a.html", "/never", "/robots.txt"]
TOKENS = [("x",), ("y",), ("y", "x")]

origins = st.sampled_from([A, B, C])
visits = st.tuples(origins, st.sampled_from(PATHS), st.sampled_from([TOKENS[0], *TOKENS]))
events = st.one_of(
    visits,
    visits,
    st.tuples(origins, st.sampled_from(ANSWERS)),
    st.tuples(st.sampled_from([-7200.0, 1.0, 60.0, 85.0, 200.0])),
    st.tuples(origins),
)


def seen(harness: LookupHarness, origin: Origin, path: str, tokens: tuple[str, ...]) -> object:
    """The decision about a URL, or what it waits for."""
    is_known = harness.lookup.knows(origin)
    found = harness.ask(origin)
    stored = harness.memory.get(origin)
    if not isinstance(found, Resolved):
        return is_known, found, stored
    record = found.record
    assert record is not None
    decision = found.decide(f"{origin}{path}", tokens, harness.clock())
    # Without pages_answered_at, which is noted in the stored record and not in one that is in use.
    used = found.valid_until, found.unreachable, record.fetched_at, record.body, found.extensions
    return is_known, decision, used, stored


def happen(harness: LookupHarness, event: tuple[object, ...]) -> object:
    """Let *event* happen; what a crawl sees of it."""
    match event:
        case (float(seconds),):
            if seconds < 0:
                harness.ahead += seconds
            else:
                harness.pass_time(seconds)
        case (origin,):
            harness.page_answered(origin)  # type: ignore[arg-type]
        case (origin, FetchResult() as attempt):
            if origin in harness.fetching:
                harness.answer(attempt, origin)
        case (origin, path, tokens):
            return seen(harness, origin, path, tokens)  # type: ignore[arg-type]
    return None


@given(st.lists(events, min_size=20, max_size=60), st.sampled_from([0.0, 300.0]))
def test_evicted_origins_are_decided_and_fetched_as_if_they_were_kept(
    history: list[tuple[object, ...]], hold_timeout: float
) -> None:
    """CAC-03, CAC-05: also while refreshing fails, with several crawlers, and after an expiry."""
    roomy = LookupHarness(ttl=100.0, hold_timeout=hold_timeout)
    tiny = LookupHarness(ttl=100.0, hold_timeout=hold_timeout, max_bytes=1)
    for origin in (A, B, C):
        for harness in (roomy, tiny):
            harness.ask(origin)
            harness.answer(OTHERS, origin)
    visited = [(origin, "/no", ("x",)) for origin in (A, B, C)] * 3
    for event in [*visited, *history]:
        assert happen(tiny, event) == happen(roomy, event)
        assert tiny.fetched == roomy.fetched


def allowed(harness: LookupHarness, origin: Origin, path: str) -> bool:
    found = harness.ask(origin)
    assert isinstance(found, Resolved)
    return found.decide(f"{origin}{path}", ("x",), harness.clock()).allowed


def test_an_evicted_origin_in_the_temporary_file_is_decided_as_before() -> None:
    harness = LookupHarness(max_bytes=1)
    assert isinstance(harness.memory, MemoryStore)
    harness.memory._table.max_number = 1
    for origin in (A, B, C):
        harness.ask(origin)
        harness.answer(FILE, origin)
    for _ in range(4):
        for origin in (A, B, C):
            assert allowed(harness, origin, "/page")
            assert not allowed(harness, origin, "/no")
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
    harness.page_answered(A)
