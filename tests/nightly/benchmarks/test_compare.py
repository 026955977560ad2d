"""The comparison with an older commit runs, and names what became slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import compare
from scrapy_robotspec.editions import EDITIONS


@pytest.mark.parametrize("has_folder", [False, True])
def test_a_commit_beside_itself(
    has_folder: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every measure has a ratio; the tool's trial asserts no time."""
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /x\n")
    options = ["--files", str(tmp_path)] if has_folder else []
    assert compare.main(["HEAD", "--quick", "--rounds", "1", "--most", "100", *options]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split(maxsplit=1)[1] for line in lines] == [
        *("a file, verdicts: 1", "a file, verdicts: 2", "a file, names: 1", "a file, names: 5"),
        *(f"{edition}, {asked}" for edition in EDITIONS for asked in ("verdicts: 1", "names: 5")),
        *(f"a file, linted in {edition}" for edition in ("google-2019", "google", "classic")),
        "a first visit",
    ]


def test_the_package_of_the_other_commit_is_measured(tmp_path: Path) -> None:
    """Not the one that is installed: a slower parser there makes this commit faster."""
    compare.unpack("HEAD", tmp_path)
    parser = tmp_path / "scrapy_robotspec" / "protocol" / "robotstxt.py"
    slower = "RobotsTxt.parse = lambda *given: sum(range(99_999)) and _parse(*given)"
    parser.write_text(f"{parser.read_text('utf-8')}\n\n_parse = RobotsTxt.parse\n{slower}\n")
    sides = [compare.run(side, quick=True) for side in (compare.ROOT, tmp_path)]
    ratio = compare.compared([sides])["a file, verdicts: 1"]
    assert ratio is not None
    assert ratio < 0.7


def test_what_takes_longer_is_named() -> None:
    """The median of the rounds counts; a measure of one side alone has no ratio."""
    rounds = [[{"a": a, "b": 1.0, "new": 1.0}, {"a": 1.0, "b": 1.0}] for a in (1.3, 9.0, 0.1)]
    ratios = compare.compared(rounds)
    assert [*compare.rows(ratios, 1.1)] == [
        "  1.30  a  slower",
        "  1.00  b",
        "   –    new  not measured: a side lacks what it calls",
    ]
