"""States: lines are read back as written, and follow from what was archived."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.exchange import MISPLACED, Exchange, result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.evidence.log_lines import DAMAGE, State, digest_of
from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.warc import NewRecord, response_head
from tests.support.evidence import START, Crawl, asked_for, lines_of, write_lines

SITE = "https://example.com"
ORIGIN = Origin("https", "example.com", 443)
RECORD = RobotsRecord(ORIGIN, Meaning.RULES, 200, b"", fetched_at=START, expires_at=START + 60)
STATE = st.builds(
    State,
    id=st.text(),
    record=st.just(RECORD),
    time=st.floats(0, 1e10),
    body_record=st.none() | st.text(),
    body_sha256=st.just(""),
    source=st.sampled_from(["fetch", "store"]),
    before=st.none() | st.text(),
    exchanges=st.lists(st.text()).map(tuple),
    failure=st.none() | st.tuples(st.none() | st.text("abc", min_size=1), st.booleans()),
    is_left_out=st.just(False),
)


@given(STATE)
def test_a_line_is_read_back_as_written(state: State) -> None:
    found = State.from_values(json.loads(state.to_line()))._asdict()
    failure = found["failure"] and tuple(found["failure"])
    assert {**found, "failure": failure} == state._asdict()


def test_a_line_has_the_digest_of_the_body() -> None:
    body = b"Disallow: /"
    record = RobotsRecord(ORIGIN, Meaning.RULES, 200, body)
    line: dict[str, Any] = json.loads(State("1", record, START).to_line())
    assert line["body_sha256"] == digest_of(body)


def test_a_line_without_an_origin_is_damaged() -> None:
    line = json.loads(State("1", RECORD, START).to_line())
    with pytest.raises(DAMAGE):
        State.from_values({**line, "record": {}})


@pytest.mark.parametrize("seconds", [-1.0, 1.0])
def test_a_pause_that_the_policy_does_not_choose_differs(tmp_path: Path, seconds: float) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"", 503)
    crawl.close()
    lines = lines_of(tmp_path)
    lines[-2]["record"]["next_attempt"] += seconds
    write_lines(tmp_path, lines)
    assert "does not follow from the archived exchanges" in replay(tmp_path).problems[0]


@pytest.mark.parametrize(("words", "is_good"), [("timeout", True), ("DNS lookup failed", False)])
def test_a_failure_is_the_one_that_is_archived(tmp_path: Path, words: str, is_good: bool) -> None:
    crawl = Crawl(tmp_path)
    failed = NewRecord("metadata", ORIGIN.robots_url, START, b"failure: timeout\r\n", began=START)
    crawl.writer.add_line(crawl.writer.store(failed))
    record = crawl.settings.policy.apply(None, ORIGIN, FetchResult(error=words), START, 0.5)
    state = State("1", record, START, source="fetch", exchanges=(failed.id,))
    crawl.writer.add_line(state._replace(failure=(words, False)).to_line())
    crawl.close()
    found = replay(tmp_path).problems
    expected = [] if is_good else ["it has another failure than the archive"]
    assert [each.partition(" 1: ")[2] for each in found] == expected


@pytest.mark.parametrize(
    ("statuses", "is_misplaced"),
    [
        ((503,), False),
        ((503, 500, 200), True),
        ((500, 599, 204), True),
        ((503, 404, 200), False),
        ((503, 500, 404), False),
        ((503, 200, 500), False),
        ((503, 500), False),
        ((503, 500, 200, 200), False),
    ],
)
def test_server_errors_are_misplaced_by_two_probes(
    tmp_path: Path, statuses: tuple[int, ...], is_misplaced: bool
) -> None:
    """FET-15: a missing page answers 5xx, and the first page 2xx."""
    crawl = Crawl(tmp_path)
    urls = (ORIGIN.robots_url, f"{SITE}/missing", f"{SITE}/", f"{SITE}/more")
    exchanges = [Exchange(url, status) for url, status in zip(urls, statuses, strict=False)]
    for each in exchanges:
        stored = NewRecord("response", each.url, START, b"", response_head(each, "HTTP/1.1"))
        stored = replace(stored, began=START, request=asked_for(each.url))
        crawl.writer.add_line(crawl.writer.store(stored))
    crawl.writer.flush()
    ids = tuple(line["id"] for line in lines_of(tmp_path) if line.get("kind") == "response")
    result = result_of(exchanges[0], (), MISPLACED if is_misplaced else None, 1000)
    record = crawl.settings.policy.apply(None, ORIGIN, result, START, 0.5)
    crawl.writer.add_line(State("1", record, START, source="fetch", exchanges=ids).to_line())
    crawl.close()
    assert replay(tmp_path).problems == []


def test_a_response_of_another_url_is_not_of_the_chain(tmp_path: Path) -> None:
    """Else a folder could lend an origin the file of another one."""
    crawl = Crawl(tmp_path)
    url = "https://other.example/robots.txt"
    response = Exchange(url, 200, (), b"")
    head = response_head(response, "HTTP/1.1")
    received = NewRecord(
        "response", url, START, b"", head=head, began=START, request=asked_for(url)
    )
    crawl.writer.add_line(crawl.writer.store(received))
    result = result_of(response, (), None, crawl.settings.max_size)
    record = crawl.settings.policy.apply(None, ORIGIN, result, START, 0.5)
    state = State("1", record, START, source="fetch", exchanges=(received.id,))
    crawl.writer.add_line(state.to_line())
    crawl.close()
    (problem,) = replay(tmp_path).problems
    assert f"{url!a} is not the next URL of its redirect chain" in problem
