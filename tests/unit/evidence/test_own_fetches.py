"""OwnFetches: hops and probes of a crawl's robots.txt fetches are found, those under way too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.evidence.audit import Timeline
from scrapy_robotspec.evidence.own_fetches import request_key
from scrapy_robotspec.evidence.warc import NewRecord
from tests.support.evidence import START, Crawl, audited

SITE = "https://example.com"
NO = f"{SITE}/private/x"


def one(folder: Path, time: float, url: str = NO) -> str:
    """The audit of one request."""
    audit = audited(folder, [(START + time, url)])
    return "disallowed" if audit.disallowed else "unknown" if audit.unknown else "allowed"


def fetch_hop(crawl: Crawl, began: float, ended: float) -> None:
    """A robots.txt fetch is redirected to the private page."""
    head = b"HTTP/1.1 404 Not Found\r\n\r\n"
    hop = NewRecord("response", NO, START + ended, b"", head=head, began=START + began)
    crawl.writer.add_line(crawl.writer.store(hop))


def test_a_fetch_excuses_requests_of_its_time_alone(tmp_path: Path) -> None:
    """And of the tolerance around it."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    for began, ended in ((10, 20), (30, 50), (32, 40)):
        fetch_hop(crawl, began, ended)
    crawl.close()
    found = {time: one(tmp_path, time) for time in (8.5, 9.5, 20.5, 21.5, 28.5, 29.5, 50.5, 51.5)}
    assert [time for time, word in found.items() if word == "allowed"] == [9.5, 20.5, 29.5, 50.5]


class Moment(float):
    """A time that counts the times that are compared with it."""

    compared = 0

    def __ge__(self, other: float) -> bool:
        Moment.compared += 1
        return super().__ge__(other)


def test_a_page_that_many_fetches_lead_to_is_found_at_once(tmp_path: Path) -> None:
    """The robots.txt of thousands of parked domains redirect to one page."""
    crawl = Crawl(tmp_path)
    for number in range(100):
        fetch_hop(crawl, number, number + 0.5)
    crawl.close()
    fetches = Timeline(tmp_path).fetches
    Moment.compared = 0
    for number in range(100):
        assert fetches.include(NO, START + number, Moment(START + number + 0.1))
    assert Moment.compared == 100


def test_the_search_for_an_exchange_is_bounded(tmp_path: Path) -> None:
    """SAF-05: a folder of very many exchanges after the requests of a log."""
    looked_at = 0

    class Counted(list[tuple[float, float]]):
        def __getitem__(self, at: Any) -> Any:
            nonlocal looked_at
            found = super().__getitem__(at)
            looked_at += len(found) if isinstance(at, slice) else 1
            return found

    crawl = Crawl(tmp_path)
    crawl.close()
    fetches = Timeline(tmp_path).fetches
    fetches._exchanges[request_key(NO)] = Counted([(START + 9, START + 8)] * 200_000)
    assert not fetches.include(NO, START, START + 1)
    assert looked_at < 2_000


def answer(crawl: Crawl, began: float, ended: float, head: str, url: str) -> None:
    """A fetch that leads to no state yet receives a response, or fails."""
    lines = f"HTTP/1.1 {head}\r\n\r\n".encode() if head else b""
    kind = "response" if head else "metadata"
    record = NewRecord(kind, url, START + ended, b"", head=lines, began=START + began)
    crawl.writer.add_line(crawl.writer.store(record))


@pytest.mark.parametrize("ends", ["killed", "closed", "failed", "resolved"])
def test_a_redirect_that_a_killed_crawl_was_following_is_no_page(tmp_path: Path, ends: str) -> None:
    """No line has a request that got no response before the kill."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    robots, hop = "https://other.example/robots.txt", "https://other.example/hop"
    answer(crawl, 5, 10, f"302 Found\r\nLocation: {hop}", robots)
    answer(crawl, 10, 20, f"302 Found\r\nLocation: {NO}", hop)
    if ends == "failed":
        answer(crawl, 20, 21, "", NO)
    if ends == "resolved":
        crawl.fetch("https://other.example", at=START + 21)
    crawl.fetch("https://last.example", at=START + 100)
    if ends == "closed":
        crawl.close(START + 100)
    crawl.writer.flush()
    assert [one(tmp_path, time) for time in (18, 50)] == [
        "disallowed",
        "allowed" if ends == "killed" else "disallowed",
    ]
    assert one(tmp_path, 50, f"{NO}/y") == "disallowed"


@pytest.mark.parametrize(("status", "found"), [(503, "allowed"), (404, "disallowed")])
def test_probes_that_a_killed_crawl_was_making_are_no_pages(
    tmp_path: Path, status: int, found: str
) -> None:
    """Not even the last response before them is that of a state."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"User-agent: *\nDisallow: /\n")
    answer(crawl, 5, 10, f"{status} Whatever", f"{SITE}/robots.txt")
    crawl.fetch("https://last.example", at=START + 100)
    crawl.writer.flush()
    missing = f"{SITE}/{'0123456789abcdef' * 2}"
    assert [one(tmp_path, 50, url) for url in (missing, f"{SITE}/")] == [found] * 2
    assert [one(tmp_path, 50, f"{url}/a") for url in (missing, SITE)] == ["disallowed"] * 2
