"""The edition ``google`` gives the verdicts of Google's open-source matcher (REF), line for line.

The data are 3,000 of 30,000 generated cases, chosen for variety by ``conformance/choose.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases import HERE, Case, read_cases
from conformance.choose import tags
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

CASES = list(read_cases([HERE / "google.jsonl"]))


def differences(case: Case) -> Iterator[str]:
    """The package's deviations, asked before and after it has compiled the rules."""
    assert case.url is not None
    robots = RobotsTxt.parse(case.body, "google")
    for _ in range(2):
        verdict = robots.explain(case.url, case.tokens)
        found = verdict.allowed, verdict.rule.line if verdict.rule else 0
        if found != (case.expected, case.data["line"]):
            yield f"{found} where Google says otherwise: {case.data}"
        if robots.allowed(case.url, case.tokens) != case.expected:
            yield f"allowed() says otherwise than Google: {case.data}"
        robots.allowed("/another", case.tokens)  # compiles the rules


def test_every_verdict_and_line_is_googles() -> None:
    """FMT-05, FMT-06, FMT-10 to FMT-14, UAG-03, UAG-09, PAT-04, PRE-01, PRE-05 as REF has them."""
    assert [difference for case in CASES for difference in differences(case)] == []


def test_the_cases_are_many_and_varied() -> None:
    """A file that was lost or cut would prove nothing."""
    assert len(CASES) == 3_000
    assert len({tag for case in CASES for tag in tags(case.data)}) > 120
    assert 1_000 < sum(case.expected for case in CASES) < 2_500
