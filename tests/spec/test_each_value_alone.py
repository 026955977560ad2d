"""Every value of an edition works by itself: the default edition with one value of another.

The tables know the presets only, so the reference matcher says what such a mixture must answer. It
agrees with the package about the presets, and ``test_tables.py`` compares that with the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import pytest
from _pytest.mark import ParameterSet

from conformance.tables import read_tables
from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference
from tests.support.tokens import accepted

CASES = [case for case in read_tables() if len(case.body) < 10_000]


def mixtures() -> Iterator[ParameterSet]:
    """Each preset, and the default one with each single value that another has."""
    for name, edition in EDITIONS.items():
        yield pytest.param(edition, id=name)
    base = EDITIONS["google-2019"]
    for field in fields(Edition):
        if field.name == "name":
            continue
        own = getattr(base, field.name)
        others = {getattr(edition, field.name) for edition in EDITIONS.values()} - {own}
        for number, value in enumerate(sorted(others, key=str)):
            mixture = replace(base, **{field.name: value})
            yield pytest.param(mixture, id=f"{field.name}-{number}")


@pytest.mark.parametrize("edition", list(mixtures()))
def test_one_value_of_another_edition(edition: Edition) -> None:
    """UAG-02, FMT-06, FMT-14, PAT-03: package and reference agree on every case of the tables."""
    for case in CASES:
        robots = RobotsTxt.parse(case.body, edition)
        for ask in case.asks:
            if ask.question != "allowed" or ask.tokens != accepted(ask.tokens, edition):
                continue  # no verdict, or a ValueError, which the reference does not know
            verdict = robots.explain(ask.url, ask.tokens)
            found = reference.Verdict(verdict.allowed, verdict.rule.line if verdict.rule else 0)
            assert found == reference.rule_on(case.body, ask.url, ask.tokens, edition), (case, ask)
