"""docs/compatibility.md: its table, the tests in tests/plugins and the versions tried agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "plugins"
PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Other plugins\n")[2].partition("\n### ")[0]
#: Tests that are about no single plugin.
OTHER_TESTS = {
    "test_all_together.py",
    "test_chromium.py",
    "test_scrapys_handlers.py",
    "test_scrapys_settings.py",
}


class Row(NamedTuple):
    """A row of the table of plugins."""

    tried: str
    works: str
    to_set: str
    fails: str

    @property
    def name(self) -> str:
        return self.tried.split(" ")[0].lower()

    @property
    def test(self) -> str:
        """The file of its test."""
        return f"test_{self.name.replace('-', '_')}.py"


def rows() -> list[Row]:
    lines = [line[1:-1].split("|") for line in SECTION.splitlines() if line.startswith("|")]
    return [Row(*(cell.strip() for cell in cells)) for cells in lines[2:]]


def versions(name: str) -> dict[str, str]:
    """Project and version of each line of a requirements file, extras left out."""
    lines = (TESTS / name).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match is not None}


NEWEST, OLDER = versions("requirements.txt"), versions("requirements-2.15.txt")


def test_each_test_file_has_a_row_and_each_row_a_test_file() -> None:
    files = {path.name for path in TESTS.glob("test_*.py")}
    assert {row.test for row in rows()} == files - OTHER_TESTS
    assert files >= OTHER_TESTS


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_version_tried_is_the_one_that_tests_install(row: Row) -> None:
    version, _, scrapy = row.tried.partition(" ")[2].partition(", Scrapy ")
    assert NEWEST[row.name] == version
    if scrapy:
        assert (OLDER[row.name], OLDER["scrapy"]) == (version, scrapy)


def test_the_pages_other_versions_are_those_that_tests_install() -> None:
    assert f"Tried with Scrapy {NEWEST['scrapy']} where" in PAGE
    tried = "Tried with Scrapy {scrapy}, h2 {h2} and httpx2 {httpx2}."
    assert tried.format_map(NEWEST) in PAGE


def test_ban_policy_of_the_page_is_the_one_that_is_tried() -> None:
    code = (TESTS / "ban_policy.py").read_text(encoding="utf-8")
    blocks = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
    shown = next(block for block in blocks if "class" in block)
    for part in shown.split("\n\n\n"):
        assert part.strip() in code
