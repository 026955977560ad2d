"""PageAnswers: a page that answers is noted while its robots.txt does not (FET-12)."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.lookup.page_answers import PageAnswers
from tests.unit.lookup.fakes import DOWN, A, LookupHarness


def test_a_page_that_answers_during_a_fetch_is_not_forgotten() -> None:
    """FET-12: the fetch began from the record before."""
    harness = LookupHarness(hold_timeout=0.0)
    harness.ask()
    harness.answer(DOWN)
    harness.pass_time(61.0)
    harness.ask()
    harness.page_answered(A)
    noted = harness.clock()
    harness.answer(DOWN)
    record = harness.memory.get(A)
    assert record is not None
    assert (record.pages_answered_at, record.failures) == (noted, 2)


@pytest.mark.parametrize(
    ("url", "status", "noted"),
    [(f"{A}/x", 404, True), (f"{A}/x", 500, False), ("data:,x", 200, False)],
)
def test_responses_below_500_of_origins_are_noted(url: str, status: int, noted: bool) -> None:
    harness = LookupHarness(hold_timeout=0.0)
    harness.ask()
    harness.answer(DOWN)
    answers = PageAnswers(harness, harness.lookup)
    answers.on_response(Response(url, status=status), Request(url))
    record = harness.memory.get(A)
    assert record is not None
    assert record.pages_answered_at == (harness.clock() if noted else None)
