"""The conformance cases: valid, unique, made from the tables, and answered by this package."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.build import build, specifications, statements, to_line
from conformance.cases import HERE, Case, case_files, read_cases
from conformance.tables import read_tables
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.plain import decide
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

CASES = list(read_cases(case_files()))
SCHEMA = json.loads((HERE / "case.schema.json").read_text("utf-8"))


BUILT = build()


def shape(case: Case) -> tuple[Any, ...]:
    """What a schema can see of a case: its keys, the types of the values, and the named ones."""
    types = [(key, type(value)) for key, value in case.data.items()]
    return (*types, *(case.data[key] for key in ("specification", "statement", "basis")))


def test_cases_are_valid_by_the_schema() -> None:
    """One case of each shape that occurs; two hundred of the generated ones more."""
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    chosen = [*{shape(case): case for case in CASES}.values(), *CASES[-200:]]
    assert len(chosen) > 500
    wrong = [
        (case.id, error.message) for case in chosen for error in validator.iter_errors(case.data)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "change",
    [
        {"expected": "yes"},
        {"basis": "open"},
        {"specification": "rfc1"},
        {"file_base64": ""},
        {"url": None},
        {"extra": 1},
        {"id": "FMT-02"},
    ],
)
def test_schema_refuses_a_wrong_case(change: dict[str, Any]) -> None:
    """A schema that accepts everything would prove nothing."""
    case = next(case for case in CASES if case.required and "file" in case.data)
    assert not Draft202012Validator(SCHEMA).is_valid({**case.data, **change})


def test_no_id_and_no_question_stands_twice() -> None:
    """Neither within a file nor in two files."""
    ids = Counter(case.id for case in CASES)
    assert [name for name, number in ids.items() if number > 1] == []
    questions = Counter(
        (case.specification, case.question, case.body, case.tokens, case.url) for case in CASES
    )
    assert [each for each, number in questions.items() if number > 1] == []


@pytest.mark.parametrize("specification", specifications())
def test_files_correspond_to_the_tables(specification: str) -> None:
    """``python3 -m conformance.build`` would change nothing."""
    text = "".join(map(to_line, BUILT[specification]))
    assert (HERE / "cases" / f"{specification}.jsonl").read_text("ascii") == text
    assert text


def test_every_statement_has_words_and_cases() -> None:
    """No case without words, and no words without a case."""
    assert {case.data["statement"] for case in CASES} - {"REF"} == {*statements()}


def test_each_plain_verdict_is_expected() -> None:
    """The plain reading agrees with every case, as the fast one does in ``tests/spec``."""
    wrong = []
    for case in CASES:
        if case.question == "allowed" and case.data["edition"]:
            assert case.url is not None
            edition = EDITIONS[case.data["edition"]]
            body = RobotsTxt.parse(case.body, edition).body  # cut to the limit
            decided = decide(body, case.url, case.tokens, edition)
            if forbids(decided.key) is case.expected:
                wrong.append(case.id)
    assert wrong == []


def outcomes(statement: str) -> set[bool]:
    """The kinds of verdict that the cases of a statement expect."""
    return {
        case.expected for case in CASES if case.question == "allowed" and statement in related(case)
    }


def related(case: Case) -> tuple[str, ...]:
    """All statements that a case proves, of which its line names the main one."""
    return RELATED.get((case.data["why"], case.body), (case.data["statement"],))


RELATED = {(case.why, case.body): case.ids for case in read_tables()}
VERDICT_STATEMENTS = sorted(
    name for name in statements() if name.startswith(("FMT", "GRP", "UAG", "RUL", "PAT", "PRE"))
)


@pytest.mark.parametrize("statement", VERDICT_STATEMENTS)
def test_statement_has_a_case_that_allows_and_one_that_disallows(statement: str) -> None:
    """A parser that answers always the same fails every statement."""
    assert outcomes(statement) == {True, False}
