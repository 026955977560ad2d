"""What a file keeps of the crawlers and URLs that it was asked about (CAC-04, SAF-02)."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Iterator
from itertools import permutations
from typing import Any
from unittest.mock import patch

import pytest

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol import (
    robots_file,
    robotstxt,
)
from scrapy_robotspec.protocol.agent_index import index_agents
from scrapy_robotspec.protocol.lines import Line, read_lines
from scrapy_robotspec.protocol.robots_file import RobotsFile
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.strategies import (
    HOST,
)


def file_of(rules: int) -> bytes:
    numbers = random.Random(1)
    lines = (b"Disallow: /shop/%x/item\n" % numbers.getrandbits(40) for _ in range(rules))
    return b"User-agent: *\n" + b"".join(lines)


#: A group of one crawler.
NAMED = b"User-agent: examplebot\nDisallow: /\n"


@pytest.mark.parametrize(("questions", "most"), [(1, 1.2), (20, 4.5)])
def test_what_is_kept_is_little_more_than_the_file(questions: int, most: float) -> None:
    """CAC-04: the bytes; after more questions compiled rules too."""
    body = file_of(160)  # no longer than those of real sites

    assert kept_after(questions, body, "google-2019") < len(body) * most


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_a_crawl_asks_once_is_not_kept(edition: str) -> None:
    """CAC-04: delays, usage, licenses and other lines cost little in a file with many groups."""
    others = b"".join(b"User-agent: a%d\n" % n + file_of(5)[14:] for n in range(200))
    body = others + file_of(20) + b"Crawl-delay: 1\nContent-Usage: train-ai=n\nLicense: /a\n"
    verdicts, all_questions = (kept_after(20, body, edition, more=more) for more in (False, True))
    assert all_questions - verdicts < len(body) * 0.35


@pytest.mark.parametrize(("body", "tokens"), [(file_of(1), "a"), (NAMED, "examplebot")])
def test_names_that_are_written_as_they_are_compared_are_kept_once(
    body: bytes, tokens: str
) -> None:
    """CAC-04: nearly all files of a crawl have such names alone."""
    selection = RobotsFile(body, EDITIONS["google-2019"]).follow(tokens)
    assert selection.names is selection.keys


@pytest.mark.parametrize("edition", EDITIONS)
def test_groups_that_no_crawler_follows_are_not_kept(edition: str) -> None:
    """CAC-04: with the first verdict, in editions that read every line, too."""
    others = b"".join(b"User-agent: a%d\n" % n + file_of(20) for n in range(20))
    body = others.replace(b"*", b"b") + NAMED
    assert kept_after(1, body, edition) < len(body) * 2


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_edition_that_reads_every_line_reads_a_file_once(
    edition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the verdicts, the delay and the statements of a crawler, in any order."""
    reads: list[bytes] = []

    def counted(body: bytes, edition: Edition, **options: bool) -> Iterator[Line]:
        reads.append(body)
        return read_lines(body, edition, **options)

    monkeypatch.setattr("scrapy_robotspec.protocol.groups.read_lines", counted)
    body = file_of(20) + b"Crawl-delay: 1\nContent-Usage: train-ai=n\n" + NAMED
    for order in permutations(("allowed", "crawl_delay", "usage")):
        robots = RobotsTxt.parse(body, edition)
        reads.clear()
        for name in order:
            arguments = ("b",) if name == "crawl_delay" else (f"{HOST}/x", "b")
            getattr(robots, name)(*arguments)
        assert len(reads) == 1
        assert robots.groups == RobotsTxt.parse(body, edition).groups


def kept_after(questions: int, body: bytes, edition: str, *, more: bool = False) -> int:
    """Bytes that a file takes after some verdicts of one crawler, and all other questions."""

    def ask_again() -> RobotsTxt:
        robots = RobotsTxt.parse(bytes(bytearray(body)), edition)
        for n in range(questions):
            robots.allowed(f"{HOST}/shop/{n}", "examplebot")
        if more:
            asked = robots.crawl_delay("examplebot"), robots.licenses, robots.sitemaps
            usage = robots.usage(f"{HOST}/shop/1", "examplebot"), robots.other("examplebot")
            assert any((*asked, *usage)) is (edition != "classic") or usage[0].preferences
        return robots

    ask_again()  # the process caches searches; they do not belong to the file
    gc.collect()  # empties Python's lists of free objects, which are not traced
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        robots = ask_again()
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
        assert robots.body == body
    finally:
        tracemalloc.stop()
    return kept


def test_few_groups_and_verdicts_are_kept() -> None:
    """However many tokens and URLs a file is asked about, what it keeps is bounded."""
    robots = RobotsTxt.parse(file_of(400) + NAMED)
    with patch.multiple(robots_file, KEPT=8):
        for n in range(50):
            robots.allowed(f"{HOST}/{n % 20}", "token" + "-" * n)
    assert len(robots.file.index._by_tokens) <= 8
    assert len({known.rules for known in robots.file.index._by_tokens.values()}) == 1
    for rule in robots.groups[0].rules:
        assert robots.explain(HOST + rule.pattern, "token-").rule == rule
    assert robots.file.selection is not None
    assert robots.file.selection.verdicts is not None
    assert len(robots.file.selection.verdicts) <= robotstxt._KEPT_VERDICTS


@pytest.mark.parametrize(
    ("body", "most"),
    [
        (file_of(10) + NAMED, 2),  # the first crawler's agents, all agents
        (file_of(10), 1),  # no group names a crawler
        (b"", 1),
    ],
)
def test_a_file_is_searched_once_however_many_crawlers_ask(
    body: bytes, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: each search takes time in proportion to the file."""
    searched: list[bytes] = []

    def counted(*arguments: Any) -> Any:
        searched.append(arguments[0])
        return index_agents(*arguments)

    monkeypatch.setattr(robots_file, "index_agents", counted)
    robots = RobotsTxt.parse(body)
    for n in range(3 * robots_file.KEPT):
        token = "token" + "-" * n
        robots.allowed(f"{HOST}/", token)
        robots.other(token)
        robots.crawl_delay(token)
        with pytest.raises(ValueError, match="no group can be found under"):
            robots.allowed(f"{HOST}/", f"{n}bot")  # UAG-11
    assert len(searched) == most
