"""``conformance/README.md`` says what the suite does: options, keys, questions, examples."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from conformance.__main__ import main
from conformance.cases import HERE, SPECIFICATIONS, case_files, read_cases
from conformance.responses import Kind
from conformance.score import request
from conformance.tables import QUESTIONS

README = (HERE / "README.md").read_text("utf-8")
SCHEMA = json.loads((HERE / "case.schema.json").read_text("utf-8"))


def rows(heading: str) -> set[str]:
    """The names in the first column of the table below a heading."""
    section = README.partition(f" {heading}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.M)
    return {name for cell in cells for name in re.findall(r"`([^` ]+)[^`]*`", cell)}


def test_readme_explains_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    """And no option that does not exist."""
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert rows("Run your parser") == {*re.findall(r"--[a-z]+", text)} - {"--help"}


def test_readme_explains_every_key_question_and_specification() -> None:
    """Equal to the schema and to the cases."""
    assert rows("Use the files without the program") == {*SCHEMA["properties"]}
    assert rows("Questions") == {*QUESTIONS, "applies"}
    assert rows("Specifications") == {*SPECIFICATIONS}


def test_request_of_the_readme_is_a_real_one() -> None:
    """The one that is sent for the case that it names."""
    text = re.search(r"^```json\n(\{\"id\".*?)^```", README, re.M | re.S)
    assert text
    shown = json.loads(text[1])
    case = next(case for case in read_cases(case_files()) if case.id == shown["id"])
    assert shown == request(case)
    failure = f"{case.id} {case.url} for FooBot: disallowed, expected: allowed"
    assert f"  {failure}\n    {case.data['why']}\n" in README


def test_json_output_has_the_keys_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    """And every kind of response is explained."""
    main(["--command", "true", "--spec", "draft-1996", "--json"])
    output = json.loads(capsys.readouterr().out)
    text = README.partition("The output of `--json`")[2].partition("\n\n")[0]
    for name in (*output, *output["failures"][0], *get_args(Kind)):
        assert f"`{name}`" in text
