"""The package and the naive reference give one verdict, by one line, in every edition."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.bulk.batches import extent_of
from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference
from tests.support.tokens import accepted
from tests.unit.protocol.property.strategies import (
    Case,
    cases,
    escape_interviews,
    interviews,
)

#: The presets, and what no preset sets.
VARIANTS = {
    **EDITIONS,
    "case-sensitive": replace(EDITIONS["google-2019"], case_sensitive_tokens=True),
    "case-sensitive classic": replace(EDITIONS["classic"], case_sensitive_tokens=True),
}


def same_verdict(case: Case, edition: Edition) -> None:
    """The package's verdict and line equal the reference's."""
    body, url, tokens = case
    names = accepted(tokens, edition)
    verdict = RobotsTxt.parse(body, edition).explain(url, names)
    found = reference.Verdict(verdict.allowed, verdict.rule.line if verdict.rule else 0)
    assert found == reference.rule_on(body, url, names, edition)


@pytest.mark.parametrize("name", VARIANTS)
@given(case=cases)
def test_same_verdict_and_line(name: str, case: Case) -> None:
    """GRP-01, UAG-01, PAT-01, PRE-01: two independent readers agree on generated cases."""
    same_verdict(case, VARIANTS[name])


@pytest.mark.parametrize("name", EDITIONS)
@given(case=cases, limit=st.integers(1, 120))
def test_same_verdict_under_a_small_limit(name: str, case: Case, limit: int) -> None:
    """FMT-12: both cut at the same line."""
    edition = replace(EDITIONS[name], parsing_limit=limit, parsing_limit_minimum=1)
    same_verdict(case, edition)


@pytest.mark.parametrize("name", EDITIONS)
@given(interview=interviews, asked=st.randoms(use_true_random=False))
def test_same_verdict_whatever_was_asked_before(
    name: str, interview: tuple[bytes, list[tuple[str, tuple[str, ...]]]], asked: Random
) -> None:
    """GRP-01, PRE-01: what a file keeps for later questions changes none of the answers."""
    body, questions = interview
    robots = RobotsTxt.parse(body, name)
    for url, tokens in [*questions, *asked.sample(questions * 6, len(questions) * 6)]:
        names = accepted(tokens, name)
        expected = reference.rule_on(body, url, names, EDITIONS[name])
        assert robots.allowed(url, names) is expected.allowed
        verdict = robots.explain(url, names)
        found = reference.Verdict(verdict.allowed, verdict.rule.line if verdict.rule else 0)
        assert found == expected


@pytest.mark.parametrize("name", EDITIONS)
@given(interview=escape_interviews())
@example(interview=([("Disallow", "/%%4%44")], ["/%%4%44"]))
def test_escapes_are_matched_alike_in_every_way(
    name: str, interview: tuple[list[tuple[str, str]], list[str]]
) -> None:
    """PAT-05 to PAT-07: before and after compiling, all matches, usage paths and in bulk."""
    rules, paths = interview
    edition = EDITIONS[name]
    lines = "".join(f"{kind}: {path}\n" for kind, path in rules)
    body = f"User-agent: *\n{lines}".encode()
    compiled = RobotsTxt.parse(body, edition)
    usages = [f"Content-Usage: {path} train-ai=n\n" for _, path in rules]
    extent = extent_of(compiled.file.follow(()).rules.rules, edition)
    for path in [*paths, *paths]:  # the first is compiled when it is asked for again
        url = f"http://example.com{path}"
        expected = reference.rule_on(body, url, (), edition)
        assert RobotsTxt.parse(body, edition).allowed(url, ()) is expected.allowed
        assert compiled.allowed(url, ()) is expected.allowed
        matching = compiled.matches(url, ())
        assert (matching[0].line if matching else 0) == expected.line
        assert extent == "some" or expected.allowed is (extent != "denies all")
        for (_, pattern), usage in zip(rules, usages, strict=True):
            alone = f"User-agent: *\nDisallow: {pattern}\n".encode()
            states = RobotsTxt.parse(f"User-agent: *\n{usage}".encode(), edition).usage(url, ())
            matches = not reference.rule_on(alone, url, (), edition).allowed
            assert bool(states.preferences) is matches
