"""Replay: evidence agrees as it was written, and any change to it is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.access.decision import decision_by
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.overrides import HostTable, Override
from scrapy_robotspec.evidence.log_lines import NO_ANSWER, DecisionLines, LoggedDecision, dumps
from scrapy_robotspec.evidence.log_lines import RULES as RULES_VERSION
from scrapy_robotspec.evidence.replay import replay
from tests.support.evidence import (
    START,
    TOKENS,
    Crawl,
    lines_of,
    log_of,
    make_evidence,
    run_settings,
    write_lines,
)

SITE = "https://example.com"
#: A request in a browser could not wait for its robots.txt any longer.
UNANSWERED = {
    "allowed": False, "reason": "unreachable", "line": None, "rule": None, "group": None,
    "policy": NO_ANSWER, "outcome": None, "status": None, "stale": False, "failure": "",
}  # fmt: skip


def archive_of(folder: Path) -> Path:
    """The only archive in *folder*."""
    (archive,) = folder.glob("robots-*.warc.gz")
    return archive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Evidence of a small crawl."""
    make_evidence(tmp_path / "evidence")
    return tmp_path / "evidence"


def test_evidence_as_it_was_written_agrees(folder: Path) -> None:
    result = replay(folder)
    assert (result.decisions, result.agree, result.differ) == (5, 5, 0)
    assert result.problems == []
    assert (result.problems, result.notes) == ([], [])


@pytest.mark.parametrize("find", [log_of, archive_of])
def test_any_byte_that_is_changed_is_found(folder: Path, find: Callable[[Path], Path]) -> None:
    path = find(folder)
    data = path.read_bytes()
    chosen = random.Random(20)
    positions = {*range(0, len(data), 17), *range(len(data) - 90, len(data))}
    for at in sorted(positions):
        changed = bytearray(data)
        changed[at] ^= chosen.randrange(1, 256)
        path.write_bytes(changed)
        assert replay(folder).problems, (path.name, at)


def _without_line(lines: list[bytes], number: int) -> list[bytes]:
    return lines[:number] + lines[number + 1 :]


def test_any_line_that_is_removed_repeated_or_moved_is_found(folder: Path) -> None:
    path = log_of(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    changes = [_without_line(lines, number) for number in range(len(lines) - 1)]
    changes += [[*lines[: n + 1], *lines[n:]] for n in range(len(lines))]
    for number, _ in pairwise(range(len(lines))):
        swapped = list(lines)
        swapped[number : number + 2] = swapped[number : number + 2][::-1]
        changes.append(swapped)
    for changed in changes:
        path.write_bytes(b"".join(changed))
        assert replay(folder).problems


@pytest.mark.parametrize("removed", [1, 40, 120])
def test_a_last_line_that_was_cut_is_tolerated_and_named(folder: Path, removed: int) -> None:
    """As a machine that lost its power leaves it; the last line is the run's end."""
    path = log_of(folder)
    path.write_bytes(path.read_bytes()[:-removed])
    result = replay(folder)
    assert result.problems == []
    assert result.decisions == 5
    if removed > 1:  # else only the line's end is missing
        assert "no last line" in result.notes[-1]


# --- logs that were written again, with a chain that fits


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("allowed", True),
        ("reason", "no_rule"),
        ("line", 1),
        ("rule", "Disallow: /"),
        ("group", []),
        ("policy", "allow"),
        ("outcome", "unavailable"),
        ("status", 404),
        ("stale", True),
        ("edition", "classic"),
        ("usage", {"search": "allow"}),
        ("label", "search"),
        ("override", ["crawl_delay"]),
        ("resolved", f"{SITE}/elsewhere"),
        ("url", f"{SITE}/elsewhere"),
        ("url", "https://other.example/private/x"),
        ("tokens", [""]),
        ("time", START + 10 * 86400),
        ("state", "<urn:uuid:0>"),
        ("policy", "override"),
    ],
)
def test_a_decision_that_does_not_follow_from_the_archive_differs(
    folder: Path, field: str, value: object
) -> None:
    lines = lines_of(folder)
    for line in lines:
        if line.get("line") == 2:
            line[field] = value
    write_lines(folder, lines)
    result = replay(folder)
    assert (result.decisions, result.differ) == (5, 1)
    assert len(result.problems) == 1


def test_a_refusal_for_an_unknown_reason_is_counted_as_one(folder: Path) -> None:
    """A log by a later version, or a forged one, has no requests that were let through more."""
    before = replay(folder).reasons
    lines = lines_of(folder)
    for line in lines:
        if line.get("line") == 2:
            line["reason"] = "unknown"
    write_lines(folder, lines)
    assert replay(folder).reasons == before


def test_settings_that_decide_otherwise_differ(folder: Path) -> None:
    first, *others = lines_of(folder)
    first["settings"]["policy"]["status_policy"] = {"404": "disallow"}
    write_lines(folder, [first, *others])
    result = replay(folder)
    assert result.differ == 1
    assert any("does not follow from the archived exchanges" in each for each in result.problems)


def test_a_refusal_for_want_of_an_answer_agrees_whatever_is_known(tmp_path: Path) -> None:
    """An outage was known, then an answer came just as it was given up; no page may leave by it."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"", 503, at=START + 1)
    crawl.decide(f"{SITE}/a", START + 5, **UNANSWERED)
    crawl.fetch(SITE, at=START + 9)
    crawl.decide(f"{SITE}/a", START + 9.5, **UNANSWERED)
    crawl.send(START + 10)
    crawl.close()
    (problem,) = replay(tmp_path).problems
    assert "line 9" in problem
    assert "a page left that the decision 2 does not allow" in problem


@pytest.mark.parametrize("rules", [None, 1, 2, 99])
def test_decisions_by_a_state_of_other_rules_agree_with_nothing(
    tmp_path: Path, rules: int | None
) -> None:
    """Nor do those by a state that it led to: else a log that names others proves anything."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    crawl.fetch(SITE, b"", 503, at=START + 5)
    crawl.decide(f"{SITE}/private/x", START + 6)
    crawl.close()
    first, *lines = lines_of(tmp_path)
    first["rules"] = rules
    shown = {"allowed": True, "reason": "unavailable", "line": None, "rule": None, "group": None}
    for line in lines:
        if line["type"] == "state":
            line["record"] |= {"meaning": "allow"}
        elif line["type"] == "decision":
            line |= shown | {"policy": "allow", "outcome": "unavailable"}
    write_lines(tmp_path, [first, *lines])
    result = replay(tmp_path)
    assert result.agree == 0
    if (rules or 1) == RULES_VERSION:
        assert "the state does not follow" in result.problems[0]
    else:
        assert (result.problems, result.not_checkable) == ([], 1)
        version, state, later = result.notes
        assert f"line 1: version {rules or 1} of the rules decided" in version
        assert f"this release has version {RULES_VERSION}" in version
        assert "line 4: " in state
        assert "the state does not follow from the archived exchanges" in state
        assert later.endswith("is not checkable")


def override_line(host: str) -> dict[str, Any]:
    """The line of a decision by an override of *host*."""
    url = f"https://{host}/a"
    where = Origin.of(url)
    assert where is not None
    decision = decision_by("disallow", where, url, TOKENS)
    logged = LoggedDecision(1, START, "request", url, TOKENS, decision)
    line: dict[str, Any] = json.loads(DecisionLines("google-2019", None)(logged))
    return line


def test_only_an_override_of_the_run_replaces_a_robots_txt(tmp_path: Path) -> None:
    overrides = HostTable(
        {"a.example": Override(replacement="disallow"), "b.example": Override(token=("x",))}
    )
    crawl = Crawl(tmp_path, settings=replace(run_settings(), overrides=overrides))
    for number, host in enumerate(("a.example", "b.example", "c.example"), 1):
        line = {**override_line(host), "number": number}
        if host == "a.example":
            line["override"] = ["disallow"]
        crawl.writer.add_line(dumps(line))
    crawl.close()
    result = replay(tmp_path)
    assert (result.without_file, result.differ) == (1, 2)
    assert all("no override of the run replaces" in each for each in result.problems)


def test_a_url_without_an_origin_counts_as_none(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    logged = LoggedDecision(1, START, "request", "data:,x", TOKENS)
    crawl.writer.add_line(DecisionLines("google-2019", None)(logged))
    crawl.close()
    result = replay(tmp_path)
    assert (result.decisions, result.without_file, result.origins) == (1, 1, 0)
