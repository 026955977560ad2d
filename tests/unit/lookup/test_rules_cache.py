"""Resolved origins in memory: bounded by bytes, and made again without another fetch."""

from __future__ import annotations

import tracemalloc

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES

from .fakes import FILE, MISSING, A, B, C, World

USUAL = "User-agent: *\n" + "".join(f"Disallow: /private/{n}/\n" for n in range(30))
WILDCARDS = "User-agent: *\n" + "".join(f"Disallow: /*x{n}*y\n" for n in range(1000))


def origins(number: int) -> list[Origin]:
    return [Origin("http", f"{n}.example", 80) for n in range(number)]


def visit(world: World, visited: list[Origin], body: str) -> list[Resolved]:
    """Look up each origin in turn; those that are asked for have *body*."""
    found = []
    for number, origin in enumerate(visited):
        known = world.ask(origin)
        if origin in world.fetching:
            text = f"{body}# {number}\n".encode()  # no two files are the same bytes
            world.answer(FetchResult(status=200, body=text), origin)
            known = world.ask(origin)
        assert isinstance(known, Resolved)
        assert known.decide(f"{origin}/page", ("x",), world.clock()).allowed
        found.append(known)
    world.announced.clear()
    world.ended.clear()
    return found


def same(before: list[Resolved], after: list[Resolved]) -> int:
    return sum(one is other for one, other in zip(before, after, strict=True))


def test_an_evicted_origin_is_made_again_from_its_record() -> None:
    """Without another fetch."""
    world = World(max_bytes=1)
    for origin in (A, B, C):
        world.ask(origin)
        world.answer(FILE, origin)
    known = world.ask(A)
    assert isinstance(known, Resolved)
    assert known.robots is not None
    assert not known.robots.allowed("http://a.example/no", "x")
    assert world.fetched == [A, B, C]


def test_a_file_larger_than_all_that_is_kept_is_kept_while_it_is_the_newest() -> None:
    world = World(max_bytes=10)
    world.ask()
    world.answer(FILE)
    assert world.ask() is world.ask()


def test_far_more_than_two_thousand_usual_files_are_kept() -> None:
    """The number of origins is not bounded, only their size."""
    world = World()
    all_of_them = origins(5000)
    assert same(visit(world, all_of_them, USUAL), visit(world, all_of_them, USUAL)) == 5000


def test_more_origins_than_fit_visited_in_turn_are_mostly_found() -> None:
    """The least recently used one would be the next one needed, every time."""
    world = World(max_bytes=400_000)
    all_of_them = origins(200)
    visit(world, all_of_them, USUAL)
    kept = same(visit(world, all_of_them, USUAL), visit(world, all_of_them, USUAL))
    assert 40 <= kept < 200
    assert len(world.fetched) == 200


@pytest.mark.parametrize("body", [USUAL, WILDCARDS, ""], ids=["usual", "wildcards", "empty"])
def test_memory_stays_within_the_bound_whatever_the_files_contain(body: str) -> None:
    """Also for files of wildcards, whose rules take many times their size."""
    bound = MAX_BYTES // 64
    world = World(max_bytes=bound)
    tracemalloc.start()
    try:
        visit(world, origins(2 * bound // (1024 + 3 * len(body))), body)
        used = sum(
            each.size
            for each in tracemalloc.take_snapshot().statistics("filename")
            if "scrapy_robotspec" in each.traceback[0].filename
            and not each.traceback[0].filename.endswith(("memory.py", "origin.py", "codec.py"))
        )
    finally:
        tracemalloc.stop()
    assert used < bound


def test_an_origin_without_a_file_counts_too() -> None:
    world = World(max_bytes=50 * 1024)
    for origin in origins(200):
        world.ask(origin)
        world.answer(MISSING, origin)
    kept = sum(world.lookup._rules_cache.get(origin) is not None for origin in origins(200))
    assert 40 <= kept <= 50


def test_an_equal_file_keeps_its_compiled_rules() -> None:
    world = World(ttl=100.0)
    world.ask()
    world.answer(FILE)
    first = world.ask()
    world.pass_time(101.0)
    world.ask()
    world.answer(FILE)
    second = world.ask()
    assert isinstance(first, Resolved)
    assert isinstance(second, Resolved)
    assert first is not second
    assert first.robots is second.robots
