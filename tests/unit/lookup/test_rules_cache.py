"""Resolved origins in memory: bounded by bytes, and made again without another fetch."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hostile import filled, hostile_files
from scrapy_robotspec import EDITIONS, RobotsTxt
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES, _size_of

from .fakes import FILE, LookupHarness

USUAL = "User-agent: *\n" + "".join(f"Disallow: /private/{n}/\n" for n in range(30))
WILDCARDS = "User-agent: *\n" + "".join(f"Disallow: /*x{n}*y\n" for n in range(1000))


def origins(number: int) -> list[Origin]:
    return [Origin("http", f"{n}.example", 80) for n in range(number)]


def visit(harness: LookupHarness, visited: list[Origin], body: str) -> list[Resolved]:
    """Look up each origin in turn; those that are asked for have *body*."""
    found = []
    for number, origin in enumerate(visited):
        known = harness.ask(origin)
        if origin in harness.fetching:
            text = f"{body}# {number}\n".encode()  # no two files are the same bytes
            harness.answer(FetchResult(status=200, body=text), origin)
            known = harness.ask(origin)
        assert isinstance(known, Resolved)
        assert known.decide(f"{origin}/page", ("x",), harness.clock()).allowed
        found.append(known)
    harness.announced.clear()
    harness.ended.clear()
    return found


def same(before: list[Resolved], after: list[Resolved]) -> int:
    return sum(one is other for one, other in zip(before, after, strict=True))


def test_more_origins_than_fit_visited_in_turn_are_mostly_found() -> None:
    """The least recently used one would be the next one needed, every time."""
    harness = LookupHarness(max_bytes=1_400_000)
    all_of_them = origins(200)
    visit(harness, all_of_them, USUAL)
    kept = same(visit(harness, all_of_them, USUAL), visit(harness, all_of_them, USUAL))
    assert 40 <= kept < 200
    assert len(harness.fetched) == 200


@pytest.mark.parametrize("body", [USUAL, WILDCARDS, ""], ids=["usual", "wildcards", "empty"])
def test_memory_stays_within_the_bound_whatever_the_files_contain(body: str) -> None:
    """Also for files of wildcards, whose rules take many times their size."""
    bound = MAX_BYTES // 64
    harness = LookupHarness(max_bytes=bound)
    tracemalloc.start()
    try:
        visit(harness, origins(2 * bound // (1024 + 3 * len(body))), body)
        used = sum(
            each.size
            for each in tracemalloc.take_snapshot().statistics("filename")
            if "scrapy_robotspec" in each.traceback[0].filename
            and not each.traceback[0].filename.endswith(("memory.py", "origin.py", "record.py"))
        )
    finally:
        tracemalloc.stop()
    assert used < bound


def test_an_equal_file_keeps_its_compiled_rules() -> None:
    harness = LookupHarness(ttl=100.0)
    harness.ask()
    harness.answer(FILE)
    first = harness.ask()
    harness.pass_time(101.0)
    harness.ask()
    harness.answer(FILE)
    second = harness.ask()
    assert isinstance(first, Resolved)
    assert isinstance(second, Resolved)
    assert first is not second
    assert first.robots is second.robots


@pytest.mark.parametrize(
    ("more", "extensions"), [("", None), ("Crawl-delay: 1\n", {}), ("License: /l\n", {})]
)
def test_only_files_with_other_lines_have_a_place_for_what_follows_from_them(
    more: str, extensions: dict[str, object] | None
) -> None:
    """Most files contain nothing but rules: for them no request looks any further."""
    harness = LookupHarness()
    harness.ask()
    harness.answer(FetchResult(status=200, body=f"User-agent: *\nDisallow: /no\n{more}".encode()))
    found = harness.ask()
    assert isinstance(found, Resolved)
    assert found.extensions == extensions


#: Lines that take much memory, each for another reason; a number makes them distinct.
LINES = [
    *["user-agent:a{}", "user-agent:*", "user-agent:{0}b\nallow:/{0}*\nx:", "allow:\n", "a:{}"],
    *["allow:/{}", "disallow:/%4{}*", "allow:/%41%e9{}", "allow:*{}$", "allow:/a{}*b*c$", "{}:"],
    *["crawl-delay:{}", "sitemap:http://a.b/{}", "license:http://a.b/{}", "content-signal:a{}=no"],
    *["content-usage: /{} a=y", "content-usage:a{}=n", "user-agent:a\ncontent-usage:/{}* a=n"],
    *["user-agent:*\nx:", "user-agent:{0}\nx:{0}", "user-agent:{0}\nallow:/{0}*"],
    *["allow /a\nallow:/{}", "user-agent:__usage_ai-training\ndisallow:/{}"],
]
#: Lines whose rules have several patterns; no bound but the estimate holds for these.
SPELLED = ["allow:/*'''{}", "disallow:/*%a%b{}", "allow:/{}/index.html", "allow:/*''''{}\xe9\xe9"]
#: Digits end a name in most editions.
LETTERS = bytes.maketrans(b"0123456789", b"ghijklmnop")


def kept_after_all_questions(body: bytes, edition: str) -> tuple[int, RobotsTxt]:
    """The bytes that a file takes, and the file."""

    def ask() -> RobotsTxt:
        robots = RobotsTxt.parse(bytes(bytearray(body)), edition)
        for tokens in (("a",), ("b",)):
            for number in range(20):
                robots.allowed(f"http://a.example/shop/{number}/aab", tokens)
            robots.usage("http://a.example/x", tokens)
            assert (robots.crawl_delay(tokens), robots.other(tokens)) is not None
        assert (robots.licenses, robots.sitemaps) is not None
        return robots

    ask()  # the process caches searches
    gc.collect()
    tracemalloc.start()
    try:
        robots = ask()
        gc.collect()
        return tracemalloc.get_traced_memory()[0], robots
    finally:
        tracemalloc.stop()


def estimated(robots: RobotsTxt) -> int:
    harness = LookupHarness()
    harness.ask()
    harness.answer(FILE)
    found = harness.ask()
    assert isinstance(found, Resolved)
    extensions: dict[object, object] | None = {} if robots.file.may_have_others else None
    return _size_of(replace(found, robots=robots, extensions=extensions))


@pytest.mark.parametrize("edition", ["google-2019", "google", "classic"])
@pytest.mark.parametrize("family", [*hostile_files(1), *LINES, *SPELLED])
def test_the_estimate_is_no_less_than_a_hostile_file_takes(family: str, edition: str) -> None:
    """CAC-04: after every question of a crawl, for two crawlers."""
    body = body_of(family, 2_000)
    kept, robots = kept_after_all_questions(body, edition)
    assert kept <= estimated(robots)


def body_of(family: str, size: int) -> bytes:
    body = hostile_files(size).get(family) or filled(family + "\n", size)
    return body.translate(LETTERS) if "agent:{0}" in family else body


@pytest.mark.parametrize("edition", ["google-2019", "google", "classic"])
@pytest.mark.parametrize("family", [*hostile_files(1), *LINES])
def test_a_hostile_file_takes_a_few_times_its_size(family: str, edition: str) -> None:
    """SAF-02, CAC-04: the body included."""
    body = body_of(family, 20_000)
    assert kept_after_all_questions(body, edition)[0] <= 6 * len(body)


@given(
    st.lists(st.tuples(st.sampled_from(LINES + SPELLED), st.integers(1, 60)), max_size=6),
    st.sampled_from(sorted(EDITIONS)),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_the_estimate_is_no_less_than_a_mixed_file_takes(
    parts: list[tuple[str, int]], edition: str, end: str
) -> None:
    lines = [line.format(n) for line, times in parts for n in range(times)]
    kept, robots = kept_after_all_questions(end.join(["user-agent:*", *lines]).encode(), edition)
    assert kept <= estimated(robots)
