"""Results of all known parsers in ``results.json``, for the scoreboard."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from conformance.cases import HERE, cases_of
from conformance.parsers import PARSERS
from conformance.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.cases import Case
    from conformance.score import Result

    #: By kind (failures, differences, unsupported) and case ID: what the parser did.
    Outcomes = Mapping[str, Mapping[str, str]]

PATH = HERE / "results.json"


def digest(cases: Iterable[Case]) -> str:
    """Changes when a case is added, removed, or expects another answer."""
    parts = [[case.id, case.expected, case.required] for case in cases]
    return hashlib.sha256(json.dumps(sorted(parts, key=str)).encode()).hexdigest()[:16]


def collect(results: Iterable[Result]) -> dict[str, dict[str, str]]:
    """The results of a parser that differ from the expected ones."""
    kept: dict[str, dict[str, str]] = {"failures": {}, "differences": {}, "unsupported": {}}
    for result in results:
        if not result.passed:
            kind = "failures" if result.failed else "differences"
            kept[kind if result.asked else "unsupported"][result.case.id] = result.given
    return kept


def scores(name: str, outcomes: Outcomes) -> list[Score]:
    """A parser's counts for each specification that it claims."""
    return [_score(specification, outcomes) for specification in PARSERS[name].claims]


def _score(specification: str, outcomes: Outcomes) -> Score:
    asked = [case for case in cases_of(specification) if case.id not in outcomes["unsupported"]]
    required = {case.id for case in asked if case.required}
    failed = _of(specification, outcomes["failures"])
    others = len(asked) - len(required)
    return Score(
        specification,
        len(required),
        len(required - failed),
        len(failed),
        len({name.split("/")[1] for name in failed}),
        others,
        others - len(_of(specification, outcomes["differences"]) | failed - required),
        len(_of(specification, outcomes["unsupported"])),
    )


def _of(specification: str, ids: Iterable[str]) -> set[str]:
    return {name for name in ids if name.partition("/")[0] == specification}


def read() -> dict[str, Any]:
    """The results that are kept: ``cases`` (the digest) and ``parsers``."""
    data: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
    return data


def write(cases: Iterable[Case], parsers: Mapping[str, Any]) -> None:
    """Keep the results of all parsers."""
    data = {"cases": digest(cases), "parsers": parsers}
    PATH.write_text(json.dumps(data, indent=1) + "\n", encoding="ascii", newline="\n")
