"""The words of every view: each reason, outcome and answer has its own, in one place."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import scrapy_robotspec
from scrapy_robotspec.access import reasons
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.reasons import (
    ANSWERS,
    NO_RULES,
    OUTCOMES,
    REASONS,
    RequestOutcome,
    Words,
)
from tests.unit.access import test_account

TABLES: list[Mapping[str, Words | RequestOutcome]] = [REASONS, OUTCOMES, ANSWERS]
#: Filled in by :class:`~scrapy_robotspec.access.decision.Decision`.
FIELDS = {
    *("verb", "file", "rule", "in_brackets", "after_comma", "status", "failure", "failed"),
    "usage",
}


def test_each_reason_outcome_and_answer_has_words() -> None:
    assert set(REASONS) >= set(test_account.REASONS)
    assert set(ANSWERS) == {*(meaning.value for meaning in Meaning), NO_RULES}


@pytest.mark.parametrize("words", [each for table in TABLES for each in table.values()], ids=str)
def test_words_contain_nothing_but_known_values(words: Words | RequestOutcome) -> None:
    for text in (words.short, words.sentence):
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        assert text
        assert fields <= FIELDS


# --- no second wording

PACKAGE = Path(scrapy_robotspec.__file__).parent
HOME = Path(reasons.__file__)


def texts(value: object) -> Iterator[str]:
    """Every text of a table, between its values."""
    if isinstance(value, str):
        for text, *_ in string.Formatter().parse(value):
            yield text.strip(" .:;,(")
    elif isinstance(value, dict | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)


#: A cause, a consequence that files and groups have, too, and a verdict that was not reached.
COMMON = {"HTTP status", "everything is allowed", "no answer"}
#: Phrases of the tables: those of three words must not stand in any other text of the package,
#: those of two must not be one.
PHRASES = {
    text
    for name, value in vars(reasons).items()
    if not name.startswith("_")
    for text in texts(value)
    if " " in text and text not in COMMON
}


def strings(path: Path) -> Iterator[str]:
    """The texts of a module, without its docstrings, or of a template."""
    if path.suffix == ".html":
        yield path.read_text("utf-8")
        return
    tree = ast.parse(path.read_text("utf-8"))
    docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            yield node.value


def second_wordings(found: str) -> set[str]:
    """The phrases that a text repeats."""
    long = {phrase for phrase in PHRASES if phrase.count(" ") > 1 and phrase in found}
    return long | ({found.strip(" .;,()")} & PHRASES)


@pytest.mark.parametrize(
    "path",
    sorted({*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html")} - {HOME}),
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_no_other_module_says_it_once_more(path: Path) -> None:
    repeated = {text: again for text in strings(path) if (again := second_wordings(text))}
    assert repeated == {}


def test_a_second_wording_is_found() -> None:
    """The check can fail: each text of the tables is found in another text."""
    assert len(PHRASES) > 40
    for phrase in PHRASES:
        assert phrase in second_wordings(f"({phrase})")
