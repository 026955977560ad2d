"""The questions of a run: checked, each once, and the columns that they ask for."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from scrapy_robotspec import ConfigurationError, bulk
from tests.unit.bulk.asking import SHOP, batch

WRONG_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tokens": []}, "tokens is empty"),
    ({"tokens": ["a", ""]}, "tokens contains ''"),
    ({"tokens": [b"a"]}, "tokens contains b'a'"),
    ({"tokens": "a", "paths": ["x"]}, "paths contains 'x': a path begins with a slash"),
    ({"tokens": "a\udc80"}, r"tokens contains 'a\\udc80': give the names of crawlers as Unicode"),
    ({"tokens": "a", "paths": "/\ud800"}, r"paths contains '/\\ud800': .* is Unicode text"),
    ({"tokens": "a", "editions": "none"}, "none"),
    ({"tokens": "a", "editions": []}, "editions is empty"),
    ({"tokens": "a", "columns": ["verdict"]}, "columns contains 'verdict': the columns are token,"),
]


@pytest.mark.parametrize(("questions", "message"), WRONG_QUESTIONS)
def test_wrong_questions_are_named(questions: dict[str, Any], message: str) -> None:
    """A clear error instead of no rows."""
    with pytest.raises(ConfigurationError, match=message):
        bulk.verdicts(batch(url=["x"], body=[b""]), **questions)


def test_single_path_may_be_given_as_text() -> None:
    """As a single token and a single edition."""
    files = pa.table({"url": ["https://a.example/"], "body": [b"User-agent: *\nDisallow: /a"]})
    (row,) = bulk.verdicts(files, tokens="GPTBot", paths="/a", editions="rfc9309").to_pylist()
    assert [(each["path"], each["allowed"]) for each in row["paths"]] == [("/a", False)]


def test_columns_are_those_that_are_asked_for() -> None:
    """In the order of the schema, with the values that they have among all columns."""
    given_batch = batch(url=["https://a.example/"], body=[SHOP], status=[200])
    ask = partial(bulk.verdicts, given_batch, tokens=["GPTBot", "x"], paths="/cart/")
    whole = ask()
    for name in bulk.SCHEMA.names:
        assert ask(columns=name) == whole.select([name])
    names = ["paths", "allowed", "url", "token"]
    assert ask(columns=names) == whole.select([n for n in bulk.SCHEMA.names if n in names])
