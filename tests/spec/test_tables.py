"""Every row of ``cases/*.toml``, in every edition and every spelling that must not matter.

The reference matcher is asked the same questions, so that it has to earn the trust that
``tests/unit/protocol/property`` puts in it.
"""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.spec.table import Ask, Case, deliveries, read_cases
from tests.support import reference

CASES = read_cases()
ROWS = [
    pytest.param(case, name, id=f"{case.part}-{number}-{'+'.join(case.ids)}-{name}")
    for number, case in enumerate(CASES, 1)
    for name in case.editions
]


@pytest.mark.parametrize(("case", "edition"), ROWS)
def test_package_answers_as_the_document_says(case: Case, edition: str) -> None:
    """Verdict, deciding line and reason of the package equal the table's."""
    for delivery, body, factor in deliveries(case):
        robots = RobotsTxt.parse(body, edition)
        for ask in case.asks:
            answer = ask.answers[edition]
            if answer is None:
                with pytest.raises(ValueError, match="no group can be found under"):
                    robots.explain(ask.url, ask.tokens)
                continue
            verdict = robots.explain(ask.url, ask.tokens)
            line = verdict.rule.line if verdict.rule else 0
            expected = (answer.allowed, answer.line * factor, answer.reason)
            found = (verdict.allowed, line, verdict.reason)
            assert found == expected, _where(case, ask, delivery)
            assert robots.allowed(ask.url, ask.tokens) is answer.allowed


@pytest.mark.parametrize(("case", "edition"), ROWS)
def test_reference_answers_as_the_document_says(case: Case, edition: str) -> None:
    """Verdict and deciding line of the reference matcher equal the table's."""
    for delivery, body, factor in deliveries(case):
        for ask in case.asks:
            answer = ask.answers[edition]
            if answer is None:
                continue  # the reference takes any token
            expected = reference.Ruling(answer.allowed, answer.line * factor)
            found = reference.rule_on(body, ask.url, ask.tokens, EDITIONS[edition])
            assert found == expected, _where(case, ask, delivery)


def _where(case: Case, ask: Ask, delivery: str) -> str:
    return f"{case}\n{ask.url} for {', '.join(ask.tokens)}, delivered: {delivery}"
