"""Every case of ``conformance/tables``, in every edition and every spelling that must not matter.

``test_each_value_alone.py`` compares the reference matcher with the package on the same cases.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.tables import Answer, Ask, TableCase, read_tables
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.spec.table import deliveries

CASES = read_tables()


#: A row for each edition of each case.
ROWS = [
    pytest.param(case, name, id=f"{case.part}-{number}-{'+'.join(case.ids)}-{name}")
    for number, case in enumerate(CASES, 1)
    for name in case.editions
]


@pytest.mark.parametrize(("case", "edition"), ROWS)
def test_package_answers_as_the_document_says(case: TableCase, edition: str) -> None:
    """Each answer of the package equals the table's."""
    for delivery, body, factor in deliveries(case):
        robots = RobotsTxt.parse(body, edition)
        for ask in case.asks:
            answer = ask.answers[edition]
            where = f"{case}\n{ask.question} {ask.url} for {ask.tokens}, delivered: {delivery}"
            if ask.question != "allowed":
                assert other_answer(robots, ask) == answer, where
            elif answer is None:
                with pytest.raises(ValueError, match="no group can be found under"):
                    robots.explain(ask.url, ask.tokens)
            else:
                check_verdict(robots, ask, answer, factor, where)


def check_verdict(robots: RobotsTxt, ask: Ask, answer: Answer, factor: int, where: str) -> None:
    """Compare verdict, deciding line and reason."""
    verdict = robots.explain(ask.url, ask.tokens)
    line = verdict.rule.line if verdict.rule else 0
    expected = (answer.allowed, answer.line * factor, answer.reason)
    assert (verdict.allowed, line, verdict.reason) == expected, where
    assert robots.allowed(ask.url, ask.tokens) is answer.allowed, where


def other_answer(robots: RobotsTxt, ask: Ask) -> Any:
    """The package's answer to a question that is not about a verdict."""
    match ask.question:
        case "sitemaps":
            return list(robots.sitemaps)
        case "licenses":
            return list(robots.licenses)
        case "crawl_delay":
            return robots.crawl_delay(ask.tokens)
        case "other":
            return [[line.field, line.value] for line in robots.other(ask.tokens)]
        case "usage":
            usage = robots.usage(ask.url, ask.tokens)
            return dict(usage.preferences) if usage.applies else None
    raise ValueError(ask.question)


#: Statements that no other test names: the tables alone prove them.
TABLES_ALONE = [
    *("FMT-09", "UAG-06", "UAG-08", "RUL-03"),
    *("PAT-09", "PAT-10", "PAT-13", "PAT-14", "PRE-03"),
]


@pytest.mark.parametrize("statement", TABLES_ALONE)
def test_the_tables_prove_a_statement_both_ways(statement: str) -> None:
    """An allowed and a disallowed URL in the same edition, judged by the parser itself."""
    verdicts = {
        RobotsTxt.parse(case.body, edition).allowed(ask.url, ask.tokens)
        for case in CASES
        if statement in case.ids and (edition := "google-2019") in case.editions
        for ask in case.asks
        if ask.question == "allowed" and getattr(ask.answers[edition], "allowed", None) is not None
    }
    assert verdicts == {True, False}
