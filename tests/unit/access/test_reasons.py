"""The words of every view: each reason, outcome and answer has its own, in one place."""

from __future__ import annotations

import string

import pytest

from scrapy_robotspec.access import account
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.reasons import ANSWERS, OUTCOME_WORDS, REASONS, Words
from tests.unit.access import test_account

TABLES = [REASONS, OUTCOME_WORDS, ANSWERS]
#: Filled in by :class:`~scrapy_robotspec.access.decision.Decision`.
FIELDS = {
    *("verb", "file", "rule", "in_brackets", "after_comma", "status", "failure", "usage"),
}


def test_each_reason_outcome_and_answer_has_words() -> None:
    assert set(REASONS) >= set(test_account.REASONS)
    assert list(OUTCOME_WORDS) == [row.name for row in account.OUTCOMES]
    assert set(ANSWERS) == {*(meaning.value for meaning in Meaning), account.NO_RULES}


@pytest.mark.parametrize("words", [each for table in TABLES for each in table.values()], ids=str)
def test_words_contain_nothing_but_known_values(words: Words) -> None:
    for text in words:
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
        assert text
        assert fields <= FIELDS
