"""The forms of the linter's findings on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scrapy_robotspec import __version__
from tests.support.command_line import SHOP, RunCommand


def test_sarif_is_one_document_with_rules_and_places(run_command: RunCommand, folder: Path) -> None:
    """Each result refers to its rule, its file and a line of it."""
    (folder / "with space.txt").write_text(SHOP)
    result = run_command("lint", "robots.txt", "with space.txt", "--format", "sarif")
    document = json.loads(result.out)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"]["version"] == __version__
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    places = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        places.add(place["artifactLocation"]["uri"])
    assert places == {"robots.txt", "with%20space.txt"}


def test_the_proposals_of_findings_are_written_into_files(
    run_command: RunCommand, folder: Path
) -> None:
    """Other lines stay byte by byte, also those that are not UTF-8."""
    body = b"User-agent: *\r\nDisallow:/a/\nDisallow: /a/\nDisallow:/caf\xe9/\n# caf\xe9"
    (folder / "f.txt").write_bytes(body)
    result = run_command("lint", "f.txt", "--advice", "--fix")
    assert "f.txt: proposals followed" in result.err
    fixed = b"User-agent: *\r\nDisallow: /a/\nDisallow:/caf\xe9/\n# caf\xe9"
    assert (folder / "f.txt").read_bytes() == fixed
    assert "RS903" not in run_command("lint", "f.txt").out
    assert "proposals" not in run_command("lint", "f.txt", "--advice", "--fix").err


def test_code_is_explained_as_json(run_command: RunCommand) -> None:
    (line,) = run_command("lint", "--explain", "RS301", "--json").lines
    assert json.loads(line)["code"] == "RS301"
    assert run_command("lint", "--explain", "RS301", "--format", "json").lines == [line]


def test_sarif_contains_names_that_are_not_utf_8(run_command: RunCommand, folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (folder / name).write_bytes(b"User-agent: *\nDisallow: x\n")
    result = run_command("lint", name, "--format", "sarif")
    assert result.code == 1
    (found,) = json.loads(result.out)["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "caf%E9.txt"
