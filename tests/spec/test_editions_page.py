"""``docs/editions.md`` prints the values of the editions, every one and no other."""

from __future__ import annotations

import doctest
import math
import re
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.editions import EDITIONS, Edition

PAGE = Path(__file__).parents[2] / "docs" / "editions.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = {
    name: [cell.strip() for cell in cells.split(" | ")]
    for name, cells in re.findall(r"^\| `(\w+)` \| (.+) \|$", TEXT, re.M)
    if cells.count(" | ") > 1  # the table of the editions themselves has fewer columns
}
HEADINGS = re.findall(r"^\| field \| what it decides \| (`.+`) \| source \|$", TEXT, re.M)
VALUES = [field.name for field in fields(Edition) if field.name != "name"]
BYTE_NAMES = {9: "HTAB", 10: "LF", 11: "VT", 12: "FF", 13: "CR", 32: "SP"}
TIMES = ("stale_after", "allow_without_copy_after", "unreachable_limit")


def printed(field: str, value: Any) -> str:
    """How the page prints a value."""
    if isinstance(value, bytes):
        return " ".join(BYTE_NAMES[byte] for byte in value)
    if field in TIMES:
        return printed_time(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return str(len(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else f"{value:,}"


def printed_time(seconds: float) -> str:
    if seconds == math.inf:
        return "never"
    days, rest = divmod(seconds, 86400)
    return "0" if not seconds else f"{days:.0f} d" if not rest else f"{seconds / 3600:.0f} h"


def test_columns_are_the_editions() -> None:
    """One column for each preset, in the order of the code."""
    assert [" | ".join(f"`{name}`" for name in EDITIONS)] == HEADINGS


@pytest.mark.parametrize("field", VALUES)
def test_row_prints_the_values(field: str) -> None:
    """Five values where the editions differ, one where they agree."""
    values = [printed(field, getattr(edition, field)) for edition in EDITIONS.values()]
    cells = ROWS[field][1:-1]
    assert cells == (values if len(set(values)) > 1 else values[:1])


def test_page_has_no_other_rows() -> None:
    """A field that is gone leaves no row behind."""
    assert sorted(ROWS) == sorted(VALUES)


@pytest.mark.parametrize("field", VALUES)
def test_row_names_its_source(field: str) -> None:
    """Each value comes from a document."""
    assert re.search(r"\b(?:S\d|RFC|REF|GSC|REP94)\b", ROWS[field][-1])


@pytest.mark.parametrize("name", EDITIONS)
def test_every_edition_is_introduced(name: str) -> None:
    """The first table says whom an edition follows."""
    assert re.search(rf"^\| `{name}`(?: \(the default\))? \| .+ \| .+ \|$", TEXT, re.M)


def test_default_is_the_one_that_is_called_so() -> None:
    """What ``parse`` takes when nothing is said."""
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

    assert f"`{RobotsTxt.parse(b'').edition.name}` (the default)" in TEXT


def test_example_of_the_page_runs() -> None:
    """The page's example prints what the page shows."""
    failures, tries = doctest.testfile(str(PAGE), module_relative=False)
    assert (failures, tries > 0) == (0, True)


def test_no_code_asks_for_an_editions_name() -> None:
    """Outside the presets, their names are shown to people and compared with nothing."""
    package = PAGE.parents[1] / "scrapy_robotspec"
    names = "|".join(re.escape(name) for name in EDITIONS)
    asking = re.compile(
        rf"(?:[!=]=|\bin\b)\s*[\(\[{{]?\s*[\"'](?:{names})[\"']|edition\.name\s*(?:[!=]=|in\b)"
    )
    for source in package.rglob("*.py"):
        assert not asking.search(source.read_text(encoding="utf-8")), source
