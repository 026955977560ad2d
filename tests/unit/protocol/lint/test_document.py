"""``docs/lint.md`` says what the linter does, no more and no less."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from scrapy_robotspec.protocol.lint.codes import CODES, severity
from tests.unit.protocol.lint.test_codes import TABLE

PAGE = Path(__file__).parents[4] / "docs" / "lint.md"


def table() -> dict[str, tuple[str, str, list[str]]]:
    """Code, severity, meaning and IDs of each row of the page's table."""
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (RS\d+) \| (\w+) \| (.+) \| (.+) \|$", text, re.M)
    return {code: (weight, meaning, ids.split(", ")) for code, weight, meaning, ids in rows}


def test_every_code_is_documented_in_its_own_words() -> None:
    """The page lists the codes of the linter with their severities and meanings."""
    rows = {code: (weight, meaning) for code, (weight, meaning, _) in table().items()}
    assert rows == {code: (severity(code), meaning) for code, meaning in CODES.items()}


def test_statements_named_by_the_page_are_tested() -> None:
    """Each code is tested under every ID that the page names for it."""
    tested = {(row.code, row.ids) for row in TABLE}
    for code, (_, _, ids) in table().items():
        assert {(code, name) for name in ids} <= tested


def test_example_of_the_page_runs() -> None:
    """The page's example prints what the page shows."""
    failures, tries = doctest.testfile(str(PAGE), module_relative=False)
    assert (failures, tries > 0) == (0, True)
