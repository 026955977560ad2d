"""The reference matcher answers every case of ``conformance/tables`` as the table says.

It runs every night, and after a change in ``conformance/`` or ``tests/support/reference.py``. With
every change, property tests and ``tests/spec/test_each_value_alone.py`` compare the package with
the matcher, and ``tests/spec/test_tables.py`` compares the package with the tables.
"""

from __future__ import annotations

import pytest

from conformance.tables import TableCase, read_tables
from scrapy_robotspec.editions import EDITIONS
from tests.support import reference


@pytest.mark.parametrize("edition", EDITIONS)
def test_reference_answers_as_the_tables_say(edition: str) -> None:
    """Verdict and deciding line."""
    cases = [case for case in read_tables() if edition in case.editions]
    assert sum(check(case, edition) for case in cases) > len(cases) // 2


def check(case: TableCase, edition: str) -> int:
    """Compare the verdicts of a case; returns their number."""
    compared = 0
    for ask in case.asks:
        answer = ask.answers[edition]
        if answer is None or ask.question != "allowed":
            continue  # the reference takes any token, and knows rules only
        expected = reference.Verdict(answer.allowed, answer.line)
        found = reference.rule_on(case.body, ask.url, ask.tokens, EDITIONS[edition])
        assert found == expected, f"{case}\n{ask.url} for {ask.tokens}"
        compared += 1
    return compared
