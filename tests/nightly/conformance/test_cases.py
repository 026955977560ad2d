"""The conformance cases: valid, unique, made from the tables, and answered by this package."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.build import build, specifications, statements, to_line
from conformance.cases import HERE, Case, case_files, decode_body, read_cases
from conformance.score import request
from conformance.tables import Answer, read_tables
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference

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
        {"link": "https://example.com/{}"},
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
        (case.specification, *(str(value) for key, value in request(case).items() if key != "id"))
        for case in CASES
    )
    assert [each for each, number in questions.items() if number > 1] == []


@pytest.mark.parametrize("specification", specifications())
def test_files_correspond_to_the_tables(specification: str) -> None:
    """``python3 -m conformance.build`` would change nothing but how files are compressed."""
    lines = (HERE / "cases" / f"{specification}.jsonl").read_text("ascii").splitlines()
    built = [json.loads(to_line(data)) for data in BUILT[specification]]
    assert list(map(_decompressed, map(json.loads, lines))) == list(map(_decompressed, built))
    assert built


def _decompressed(data: dict[str, Any]) -> dict[str, Any]:
    """A case with the bytes of its file: releases of zlib compress them differently."""
    known = {name: value for name, value in data.items() if name != "file_gzip_base64"}
    return {**known, "body": decode_body(data)}


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
            decided = reference.rule_on(body, case.url, case.tokens, edition)
            if decided.allowed is not case.expected:
                wrong.append(case.id)
    assert wrong == []


#: Specification and statement -> the verdicts that its required cases expect.
VERDICTS: dict[tuple[str, str], set[bool]] = {}
for case in CASES:
    if case.question == "allowed" and case.required:
        key = (case.specification, case.data["statement"])
        VERDICTS.setdefault(key, set()).add(case.expected)
#: An empty file disallows nothing.
WITHOUT_OPPOSITE = {("original-1994", "R94-6")}


@pytest.mark.parametrize("key", sorted({*VERDICTS} - WITHOUT_OPPOSITE), ids="-".join)
def test_required_cases_allow_and_disallow(key: tuple[str, str]) -> None:
    """A parser that always gives the same answer fails every statement of a specification."""
    assert VERDICTS[key] == {True, False}


def test_every_statement_about_files_and_paths_has_cases() -> None:
    """The IDs of ``docs/specification.md``, and both verdicts for each in some edition."""
    page = (HERE.parent / "docs" / "specification.md").read_text("utf-8")
    expected = {
        name: set[bool]()
        for name in re.findall(r"^\| ((?:FMT|GRP|UAG|RUL|PAT|PRE)-\d\d)", page, re.M)
    }
    del expected["UAG-12"]  # about a header that is sent
    del expected["PAT-15"]  # about a page, which two readings of its URL decide about
    for case in read_tables():
        for ask in case.asks:
            for answer in ask.answers.values():
                for name in expected.keys() & {*case.ids}:
                    if isinstance(answer, Answer):
                        expected[name].add(answer.allowed)
    assert {name for name, verdicts in expected.items() if verdicts != {True, False}} == set()
