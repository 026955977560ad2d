"""Hostile evidence: every damage is a named problem, within bounds of memory (SAF-05)."""

from __future__ import annotations

import copy
import gzip
import os
import tracemalloc
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.evidence import check_folder
from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.evidence.audit import Timeline
from scrapy_robotspec.evidence.log_lines import MAX_LINE, dumps
from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.run_reader import TOO_LONG
from scrapy_robotspec.evidence.warc import NewRecord, response_head
from tests.support.evidence import (
    START,
    Crawl,
    asked_for,
    audited,
    lines_of,
    log_of,
    make_evidence,
    write_lines,
)

SITE = "https://example.com"
VALUES: list[Any] = [None, True, -1, 2**40, 1e308, "x", "\ud800", "a" * 10_000, [], {}, [[1]]]


def problems(folder: Path) -> list[str]:
    """Those of a replay; an audit finds the same."""
    found = replay(folder).problems
    assert Timeline(folder).reading.problems == found
    return found


def paths(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value inside *value*."""
    if place:
        yield place
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*place, key))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_values_of_other_types_are_problems(tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / "evidence"
    if not folder.exists():
        make_evidence(folder)
        (tmp_path / "kept").write_bytes(log_of(folder).read_bytes())
    log_of(folder).write_bytes((tmp_path / "kept").read_bytes())
    lines = copy.deepcopy(lines_of(folder))
    line = data.draw(st.sampled_from(lines))
    *outer, last = data.draw(st.sampled_from(list(paths(line))))
    inner = line
    for key in outer:
        inner = inner[key]
    inner[last] = data.draw(st.sampled_from(VALUES))
    write_lines(folder, lines)
    check_folder(folder)


def bomb(folder: Path, size: int) -> None:
    """Evidence whose only response unpacks to *size* bytes."""
    crawl = Crawl(folder)
    crawl.fetch(SITE)
    crawl.close()
    (archive,) = folder.glob("robots-*")
    packed = gzip.compress(b"\0" * size)
    archive.write_bytes(packed)
    place = {"offset": 0, "length": len(packed), "sha256": sha256(packed).hexdigest()}
    lines = [line | place if line.get("kind") == "response" else line for line in lines_of(folder)]
    write_lines(folder, [line for line in lines if line.get("kind") != "warcinfo"])


def test_a_record_unpacks_to_no_more_than_a_record_may_contain(tmp_path: Path) -> None:
    bomb(tmp_path, 2**28)
    tracemalloc.start()
    found = problems(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any("line 3" in each and "not a WARC record" in each for each in found)
    assert peak < 2**25


def test_a_length_beyond_that_of_a_record_is_a_problem(tmp_path: Path) -> None:
    make_evidence(tmp_path)
    (archive,) = tmp_path.glob("robots-*")
    os.truncate(archive, 2**40)  # takes no room
    lines = lines_of(tmp_path)
    lines[1]["length"] = 2**39
    write_lines(tmp_path, lines)
    assert "a record of 549755813888 bytes" in problems(tmp_path)[0]


def test_an_endless_line_is_a_problem(tmp_path: Path) -> None:
    make_evidence(tmp_path)
    with log_of(tmp_path).open("wb") as file:
        file.truncate(100 * MAX_LINE)
    assert "line 1 is not as it was written" in problems(tmp_path)[0]


@pytest.mark.parametrize("kind", ["decisions", "robots"])
@pytest.mark.parametrize("replacement", ["link", "pipe", "folder"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str, replacement: str) -> None:
    folder = tmp_path / "evidence"
    make_evidence(folder)
    (path,) = folder.glob(f"{kind}-*")
    path.rename(tmp_path / "moved")
    if replacement == "link":
        path.symlink_to(tmp_path / "moved")
    elif replacement == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    assert path.name in problems(folder)[0]


def test_one_exchange_belongs_to_one_state(tmp_path: Path) -> None:
    """Else each line of the log could have the whole archive read."""
    make_evidence(tmp_path)
    lines = lines_of(tmp_path)
    at = next(n for n, line in enumerate(lines) if line["type"] == "state")
    write_lines(tmp_path, [*lines[: at + 1], lines[at] | {"id": "again"}, *lines[at + 1 :]])
    assert any("belongs to another state" in each for each in problems(tmp_path))


@pytest.mark.parametrize("kind", ["decision", "state", "record"])
def test_a_line_that_the_last_one_does_not_count_is_a_problem(tmp_path: Path, kind: str) -> None:
    make_evidence(tmp_path)
    lines = lines_of(tmp_path)
    dropped = max(n for n, line in enumerate(lines) if line["type"] == kind)
    write_lines(tmp_path, lines[:dropped] + lines[dropped + 1 :])
    assert any("the last line counts" in each for each in problems(tmp_path))


@pytest.mark.parametrize("kind", ["decisions", "robots"])
@pytest.mark.parametrize("more", [b"x", b"\n", b'{"type":"decision"', b"\0" * 100])
def test_bytes_behind_the_last_line_are_a_problem(tmp_path: Path, kind: str, more: bytes) -> None:
    make_evidence(tmp_path)
    (path,) = tmp_path.glob(f"{kind}-*")
    with path.open("ab") as file:
        file.write(more)
    assert len(problems(tmp_path)) == 1


@pytest.mark.parametrize("left", [b"", b"\0" * 5000, b'{"type":"run"'])
def test_a_log_of_which_no_line_is_left_is_a_problem(tmp_path: Path, left: bytes) -> None:
    """A killed process leaves its first line, or nothing at all."""
    make_evidence(tmp_path)
    log_of(tmp_path).write_bytes(left)
    assert len(problems(tmp_path)) == (2 if left else 1)
    for path in tmp_path.iterdir():
        path.write_bytes(b"")
    assert problems(tmp_path) == []


def test_times_without_a_plan_end(tmp_path: Path) -> None:
    """No loop of an audit goes on in steps of nothing."""
    make_evidence(tmp_path)
    lines = lines_of(tmp_path)
    for line in lines:
        if line["type"] == "state":
            line["record"] |= {"expires_at": 1e308}
        if line["type"] == "run":
            line["settings"]["policy"] |= {"ttl": 1e10, "max_ttl": 1e10, "retry_max_delay": 0.0}
    write_lines(tmp_path, lines)
    check_folder(tmp_path)


def test_what_takes_too_long_is_not_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_evidence(tmp_path)
    monkeypatch.setattr("scrapy_robotspec.evidence.run_reader.SECONDS", -1.0)
    assert "it takes too long" in problems(tmp_path)[0]
    # A long log may take longer.
    monkeypatch.setattr("scrapy_robotspec.evidence.run_reader._BYTES_PER_SECOND", 1)
    assert problems(tmp_path) == []


def test_a_long_url_and_a_long_file_make_a_request_unknown(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"User-agent: *\n" + b"Disallow: /*a*b*c\n" * 25_000)
    crawl.close()
    audit = audited(tmp_path, [(START + 1, f"{SITE}/{'abd' * 20_000}")])
    assert (audit.disallowed, audit.unknown) == (0, 1)


def forged_states(folder: Path, number: int, size: int) -> None:
    """A state that names that many responses of that size."""
    crawl = Crawl(folder)
    url, body = f"{SITE}/robots.txt", b"#" * size
    head = response_head(Exchange(url, 200), "HTTP/1.1")
    for _ in range(number):
        record = NewRecord("response", url, START, body, head=head, began=START)
        record.request = asked_for(url)
        crawl.writer.add_line(crawl.writer.store(record))
    crawl.fetch(SITE, at=START + 1)
    crawl.close()
    lines = lines_of(folder)
    (state,) = (line for line in lines if line["type"] == "state")
    state["exchanges"] = [line["id"] for line in lines if line.get("kind") == "response"]
    write_lines(folder, lines)


def test_the_responses_of_a_state_are_read_one_after_another(tmp_path: Path) -> None:
    """Each may unpack to a hundred times its size."""
    forged_states(tmp_path, 12, 2**20)
    tracemalloc.start()
    found = problems(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any("does not follow" in each for each in found)
    assert peak < 8 * 2**20


def test_a_state_names_no_more_responses_than_its_settings_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the limit of time is looked at between them."""
    forged_states(tmp_path / "more", 14, 10)
    assert any("more responses than its settings" in each for each in problems(tmp_path / "more"))
    forged_states(tmp_path / "most", 13, 10)
    assert any("does not follow" in each for each in problems(tmp_path / "most"))
    times = iter([0.0] * 19)
    monkeypatch.setattr(
        "scrapy_robotspec.evidence.run_reader.process_time", lambda: next(times, 1e9)
    )
    found = replay(tmp_path / "most").problems
    assert [TOO_LONG in each for each in found] == [True, True]
    assert "state" in found[0]


@pytest.mark.parametrize("kind", ["run", "record", "state", "decision", "sent", "end", "clock"])
@pytest.mark.parametrize("member", ["url", "id"])
@pytest.mark.parametrize("value", [5, [], {"a": 1}, True])
def test_a_url_of_another_type_is_a_problem_with_its_line(
    tmp_path: Path, kind: str, member: str, value: Any
) -> None:
    """Also in a line that needs none."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    crawl.decide(f"{SITE}/")
    crawl.send(START)
    crawl.writer.add_line(dumps({"type": "clock", "time": START, "jump": 1.0}))
    crawl.close()
    lines = lines_of(tmp_path)
    at = next(n for n, line in enumerate(lines) if line["type"] == kind)
    lines[at][member] = value
    write_lines(tmp_path, lines)
    (problem,) = problems(tmp_path)
    assert f"line {at + 1}: {member} of a {kind} has a wrong value" in problem


def test_a_url_that_is_compared_with_a_long_file_has_a_bound(tmp_path: Path) -> None:
    """Their product decides what one line of the log costs."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"User-agent: *\n" + b"Disallow: /*a*b*c\n" * 25_000)
    crawl.decide(f"{SITE}/{'abd' * 10}")
    crawl.decide(f"{SITE}/{'abd' * 20_000}")
    crawl.close()
    (problem,) = replay(tmp_path).problems
    assert "longer than can be compared" in problem


def test_a_copy_under_another_name_is_no_further_run(tmp_path: Path) -> None:
    make_evidence(tmp_path)
    for path in [*tmp_path.iterdir()]:
        (tmp_path / path.name.replace("-1-", "-2-")).write_bytes(path.read_bytes())
    (problem,) = problems(tmp_path)
    assert "line 1: it belongs to another file" in problem
