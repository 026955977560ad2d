"""The JSON of each command and of the report: its schema, and rows that all have the same keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from scrapy_robotspec.cli.app import COMMANDS
from scrapy_robotspec.editions import EDITIONS
from tests.support.command_line import SCHEMAS, RunCommand, check_json

NAMES = sorted(path.stem for path in SCHEMAS.iterdir())


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that describes an object with known keys."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def read(name: str) -> dict[str, Any]:
    """A schema."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_each_command_with_json_has_a_schema() -> None:
    """Besides the report of a crawl."""
    names = {name.partition("-")[0] for name in NAMES} - {"report"}
    assert names == {*COMMANDS} - {"bulk"}


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_do_not_vary_by_row(name: str) -> None:
    """A program may read any key of any row; ``null`` stands where there is nothing."""
    schema = read(name)
    Draft202012Validator.check_schema(schema)
    for part in objects(schema):
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False


def test_the_editions_are_those_that_there_are() -> None:
    assert list(read("editions")["properties"]["editions"]["properties"]) == list(EDITIONS)


def test_a_row_that_lacks_a_key_is_found() -> None:
    """The check of all other tests can fail."""
    with pytest.raises(ValidationError):
        check_json(["check", "--json"], '{"url": "/"}')


def test_a_file_is_shown_with_size_and_all_groups(run_command: RunCommand) -> None:
    """As the text shows it; with a crawler, only what applies to it."""
    (row,) = map(json.loads, run_command("show", "robots.txt", "--json").lines)
    size = len(Path("robots.txt").read_bytes())
    assert (row["file"], row["bytes"], row["edition"]) == ("robots.txt", size, "google-2019")
    shown = [(group["line"], group["user_agents"]) for group in row["groups"]]
    assert shown == [(4, ["GPTBot", "CCBot"]), (8, ["examplebot"]), (14, ["*"])]
    assert [len(group["rules"]) for group in row["groups"]] == [1, 3, 3]
    rows = [*map(json.loads, run_command("show", "robots.txt", "--each-token", "--json").lines)]
    assert [each["tokens"] for each in rows] == [["GPTBot"], ["CCBot"], ["examplebot"], []]
    assert {each["groups"] for each in rows} == {None}
    assert [len(each["rules"]) for each in rows] == [1, 1, 3, 3]


FIELDS = [
    *("User-agent", "Allow", "Disallow", "Disalow", "Sitemap", "Crawl-delay", "Content-Usage"),
    *("Content-Signal", "License", "x"),
]
VALUES = [
    *("", "*", "GPTBot", "MJ12bot", "/", "/a", "fish", "/*b$", "/ü", "/%7Ec # d", "5"),
    *("train-ai=n", "search=yes, ai-train=no", "https://a.example/s", "/s"),
]
LINE = st.one_of(
    st.binary(max_size=30),
    st.builds(
        lambda field, value, end: f"{field}: {value}{end}".encode(),
        st.sampled_from(FIELDS),
        st.sampled_from(VALUES),
        st.sampled_from(["", " # comment", "\t"]),
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, max_size=12).map(b"\n".join), st.sampled_from(sorted(EDITIONS)))
def test_every_row_about_any_file_fits(run_command: RunCommand, body: bytes, edition: str) -> None:
    """Each command, with and without crawlers: the fixture checks every line."""
    Path("f.txt").write_bytes(body)
    for words in (
        *("check f.txt /a /%7Ec /a/../b", "check f.txt / --each-token"),
        *("explain f.txt /a /ü /robots.txt", "explain f.txt / --each-token"),
        *("show f.txt", "show f.txt --each-token"),
        *("lint f.txt --advice", "lint f.txt --statistics"),
        *("diff f.txt robots.txt /a /cart/", "diff robots.txt f.txt / --token a --token b"),
    ):
        assert run_command(*words.split(), "--json", "--edition", edition).code in (0, 1)
    assert run_command("editions", "f.txt", "--each-token", "--all", "--json").code in (0, 1)
