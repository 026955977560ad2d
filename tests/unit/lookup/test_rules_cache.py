"""Resolved origins in memory: bounded by bytes, and made again without another fetch."""

from __future__ import annotations

import tracemalloc

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES

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
    harness = LookupHarness(max_bytes=400_000)
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
