"""docs/compatibility.md: its tables, the tests in tests/plugins and the versions tried agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "plugins"
PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
COLUMNS = 6


class Row(NamedTuple):
    """A row of the page's tables."""

    name: str
    tried: str
    works: str
    to_set: str
    fails: str
    test: str


def rows() -> list[Row]:
    lines = [line.strip("|").split("|") for line in PAGE.splitlines() if line.endswith(".py` |")]
    assert {len(cells) for cells in lines} == {COLUMNS}, "a row has too few or too many cells"
    return [Row(*(cell.strip() for cell in cells)) for cells in lines]


def versions(name: str) -> dict[str, str]:
    """Project and version of each line of a requirements file, extras left out."""
    lines = (TESTS / name).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+)(?:\[\w+\])?==([\w.]+)", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match is not None}


NEWEST, OLDER = versions("requirements.txt"), versions("requirements-2.15.txt")
PLUGINS = [row for row in rows() if not row.tried.startswith("Scrapy")]


def test_each_test_file_has_a_row_and_each_row_a_test_file() -> None:
    """The test with all plugins together has no row of its own."""
    files = {path.name for path in TESTS.glob("test_*.py")} - {"test_all_together.py"}
    assert {row.test.strip("`") for row in rows()} == files


@pytest.mark.parametrize("row", PLUGINS, ids=lambda row: row.name)
def test_version_tried_is_the_one_that_tests_install(row: Row) -> None:
    version, _, scrapy = row.tried.partition(", Scrapy ")
    assert NEWEST[row.name.lower()] == version
    if scrapy:
        assert (OLDER[row.name.lower()], OLDER["scrapy"]) == (version, scrapy)


def test_scrapy_tried_is_the_one_that_tests_install() -> None:
    assert f"Tried with Scrapy {NEWEST['scrapy']}" in PAGE
    for row in rows():
        for project, version in re.findall(r"(Scrapy|h2|httpx2) ([\d.]+)", row.tried):
            assert version in (NEWEST[project.lower()], OLDER.get(project.lower()))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_row_says_what_works_or_why_nothing_does(row: Row) -> None:
    assert row.works or "Error" in row.fails


def test_ban_policy_of_the_page_is_the_one_that_is_tried() -> None:
    code = (TESTS / "ban_policy.py").read_text(encoding="utf-8")
    shown = next(
        block for block in re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL) if "class" in block
    )
    for part in shown.split("\n\n\n"):
        assert part.strip() in code
