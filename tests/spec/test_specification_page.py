"""``docs/specification.md`` and the tests name the same statements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = TESTS.parent / "conformance"
PAGE = TESTS.parent / "docs" / "specification.md"
PARTS = "APP|LOC|FET|CAC|FMT|GRP|UAG|RUL|PAT|PRE|SIT|SAF|EXT|USE"
STATEMENT = re.compile(rf"^\| ((?:{PARTS})-\d\d) \| (.+) \| (.+) \| `(.+)` \|$", re.M)
NAMED = re.compile(rf"\b(?:{PARTS})-\d\d\b")

ROWS = STATEMENT.findall(PAGE.read_text(encoding="utf-8"))
STATEMENTS = {name: place for name, _, _, place in ROWS}


def named_in(path: Path) -> set[str]:
    """The IDs that a file names, or the files below a folder."""
    files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.toml")]
    texts = [file.read_text(encoding="utf-8") for file in files if file != Path(__file__)]
    return {name for text in texts for name in NAMED.findall(text)}


def test_no_statement_stands_twice() -> None:
    """One row for each ID, numbered without gaps."""
    assert len(ROWS) == len(STATEMENTS)
    for part in PARTS.split("|"):
        numbers = [int(name[4:]) for name in STATEMENTS if name.startswith(part)]
        assert numbers == list(range(1, len(numbers) + 1)), part


def test_every_statement_is_named_by_a_test() -> None:
    """Nothing is promised that no test proves."""
    assert sorted(set(STATEMENTS) - named_in(TESTS) - named_in(CASES)) == []


def test_tests_name_no_statement_that_is_not_here() -> None:
    """No test proves what is not promised."""
    assert sorted((named_in(TESTS) | named_in(CASES)) - set(STATEMENTS)) == []


@pytest.mark.parametrize("name", STATEMENTS)
def test_proof_is_where_the_page_says(name: str) -> None:
    """The file in the last column exists and names the statement."""
    place = STATEMENTS[name]
    folder = TESTS.parent if place.startswith("conformance/") else TESTS
    assert name in named_in(folder / place)
