"""Reading: what it lists is bounded, what it counts is not (SAF-05)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_robotspec.evidence.run_reader import MAX_LISTED, Reading, RunSummary
from tests.support.evidence import RULES, START, Crawl, audited


def test_problems_notes_and_runs_are_listed_up_to_a_bound() -> None:
    reading = Reading()
    for number in range(MAX_LISTED + 5):
        reading.add_problem(f"problem {number}")
        reading.add_note(f"note {number}")
        reading.runs.append(RunSummary(str(number)))
    assert reading.problem_count == MAX_LISTED + 5
    lengths = (len(reading.problems), len(reading.notes), len(reading.to_json()["runs"]))
    assert lengths == (MAX_LISTED,) * 3


def test_a_long_problem_is_cut() -> None:
    reading = Reading()
    reading.add_problem("x" * 5000)
    assert [len(each) for each in reading.problems] == [1000]


def test_disallowed_requests_are_kept_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are counted."""
    monkeypatch.setattr("scrapy_robotspec.evidence.audit._MAX_ACCUSED", 2)
    crawl = Crawl(tmp_path)
    crawl.fetch("https://example.com", RULES)
    crawl.close()
    url = "https://example.com/private/x"
    audit = audited(tmp_path, [(START + second, url) for second in range(5)])
    assert (audit.disallowed, len(audit.accused)) == (5, 2)
