"""Reading of runs: what is listed is bounded, and files, formats and ends are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.run_reader import MAX_LISTED, Reading, RunSummary
from tests.support.evidence import Crawl, lines_of, log_of, make_evidence, write_lines

SITE = "https://example.com"


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Evidence of a small crawl."""
    make_evidence(tmp_path / "evidence")
    return tmp_path / "evidence"


def test_a_log_of_another_format_is_named_with_its_release(folder: Path) -> None:
    first, *others = lines_of(folder)
    for form in (4, 99, "x", None):
        write_lines(folder, [first | {"format": form}, *others])
        (problem,) = replay(folder).problems
        assert f"line 1: format {form!r} is not read" in problem
        assert "use the release that wrote it, 'tests'" in problem


def test_a_file_that_is_removed_is_found(folder: Path) -> None:
    for path in (log_of(folder), next(folder.glob("robots-*.warc.gz"))):
        kept = path.read_bytes()
        path.unlink()
        result = replay(folder)
        assert result.problems
        assert any("No such file" in problem for problem in result.problems)
        assert not any("None" in problem for problem in result.problems)  # states have no URL
        path.write_bytes(kept)


def test_a_record_that_no_line_names_yet_is_tolerated_in_a_killed_run(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    crawl.decide(f"{SITE}/")
    crawl.writer.flush()
    with next(tmp_path.glob("robots-*.warc.gz")).open("ab") as file:
        file.write(b"torn")
    result = replay(tmp_path)
    assert result.problems == []
    assert any("+4 bytes" in note for note in result.notes)
