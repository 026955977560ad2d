"""The edition ``google`` gives the verdicts of Google's open-source matcher (REF), line for line.

The data are 3,000 of 30,000 generated cases, chosen for variety by ``run.py``, which also compares
a file of more.
"""

from __future__ import annotations

from pathlib import Path

from scrapy_robotspec.protocol.fast.compiled import COMPILE_AFTER
from tests.spec.conformance.run import choose, differences, read_cases

CASES = list(read_cases(Path(__file__).with_name("google.jsonl.gz")))


def test_every_verdict_and_line_is_googles() -> None:
    """FMT-05, FMT-06, FMT-10 to FMT-14, UAG-03, UAG-09, PAT-04, PRE-01, PRE-05 as REF has them."""
    assert [difference for case in CASES for difference in differences(case)] == []


def test_the_cases_are_many_and_varied() -> None:
    """A file that was lost or cut would prove nothing."""
    assert len(CASES) == 3_000
    assert len({tag for case in CASES for tag in case.tags}) > 80
    assert 1_000 < sum(case.allowed for case in CASES) < 2_500


def test_a_wrong_verdict_is_found() -> None:
    """The comparison itself can fail: with the answer turned round every case differs."""
    case = CASES[0]
    turned = case._replace(allowed=not case.allowed)
    assert list(differences(case)) == []
    assert len(list(differences(turned))) == 2 * COMPILE_AFTER


def test_choosing_keeps_every_kind() -> None:
    """A small choice still has cases of far more kinds than so many neighbours would have."""
    few = choose(CASES, 300)
    kinds = {tag for case in few for tag in case.tags}
    assert len(few) == 300
    assert len(kinds) >= len({tag for case in CASES for tag in case.tags}) * 0.9
