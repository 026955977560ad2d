"""The forms of the linter's findings on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from scrapy_robotspec import RobotsTxt, __version__, get_edition
from scrapy_robotspec.cli.lint import LISTED
from scrapy_robotspec.protocol.lint.findings import CODES
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


def test_codes_are_found_by_code_and_name(run_command: RunCommand) -> None:
    """Case and white space do not matter; names are unique."""
    assert len({code.name for code in CODES.values()}) == len(CODES)
    for code in CODES.values():
        for word in (code.code.lower(), f" {code.name.upper()} "):
            (line,) = run_command("lint", "--explain", word, "--json").lines
            assert json.loads(line)["code"] == code.code
    for word in ("RS999", ""):
        assert run_command("lint", "--explain", word).code == 2


def test_sarif_contains_names_that_are_not_utf_8(run_command: RunCommand, folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (folder / name).write_bytes(b"User-agent: *\nDisallow: x\n")
    result = run_command("lint", name, "--format", "sarif")
    assert result.code == 1
    (found,) = json.loads(result.out)["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "caf%E9.txt"


def test_fix_does_not_make_a_file_too_long(run_command: RunCommand, folder: Path) -> None:
    """FMT-12: the end of its last rule would be cut off."""
    head, tail = b"User-agent: a\nDisallow:/x\nUser-agent: b\n", b"\nDisallow:/x/y"
    for room, growth in ((0, 0), (1, 0), (2, 2)):
        left = get_edition("google-2019").parsing_limit - room - len(head) - len(tail)
        body = head + (b"#\n" * left)[:left] + tail
        (folder / "f.txt").write_bytes(body)
        said = run_command("lint", "f.txt", "--advice", "--fix").err
        assert ("not followed" in said) is (growth == 0)
        fixed = (folder / "f.txt").read_bytes()
        assert len(fixed) - len(body) == growth
        assert not RobotsTxt.parse(fixed).allowed("/x/y", "b")


def test_fix_follows_the_selected_proposals_alone(run_command: RunCommand, folder: Path) -> None:
    """``--select`` and ``--ignore`` say which findings there are, also for ``--fix``."""
    body = "User-agent: *\nDisallow:/a/\nDisallow: /a/\nDisallow:\n"
    results = {
        "--select RS303": "User-agent: *\nDisallow:/a/\nDisallow:\n",
        "--select RS307": "User-agent: *\nDisallow:/a/\nDisallow: /a/\n",
        "--advice --ignore RS3": "User-agent: *\nDisallow: /a/\nDisallow: /a/\nDisallow:\n",
        "--select RS3 --ignore RS307": "User-agent: *\nDisallow:/a/\nDisallow:\n",
        "--select RS4": body,
    }
    for options, fixed in results.items():
        (folder / "f.txt").write_text(body)
        run_command("lint", "f.txt", "--fix", *options.split())
        assert (folder / "f.txt").read_text() == fixed, options


def test_text_lists_some_findings_and_says_how_many_it_leaves_out(
    run_command: RunCommand, folder: Path
) -> None:
    """Statistics, summary and JSON count all of them."""
    duplicates = "Disallow: /a/\n" * 251 + "Disallow:/b/\nDisallow:/c/\n"
    (folder / "f.txt").write_text("User-agent: *\n" + duplicates)
    result = run_command("lint", "f.txt", "--advice")
    assert [line.split()[1] for line in result.lines] == ["RS303"] * LISTED + ["RS903"] * 2
    assert "150 more of RS303 not listed" in result.err
    assert "250 warnings" in result.err
    assert len(run_command("lint", "f.txt", "--advice", "--json").lines) == 252
    assert run_command("lint", "f.txt", "--statistics").out.split()[:2] == ["250", "RS303"]


@pytest.mark.parametrize(
    ("rules", "expected", "code"),
    [
        ("Disallow: /", "open", "RS216"),
        ("Disallow: /", "closed", None),
        ("Disallow: /\nAllow: /a", "open", None),
        ("Disallow: /\nAllow: /a", "closed", "RS217"),
        ("Disallow: /\nAllow: /", "closed", "RS217"),
        ("Disallow: /a\n\nUser-agent: examplebot\nDisallow: /", "open", None),
    ],
)
def test_expectations_about_a_site_are_a_gate(
    run_command: RunCommand, folder: Path, rules: str, expected: str, code: str | None
) -> None:
    """Of each file; whatever is selected."""
    (folder / "f.txt").write_text(f"User-agent: *\n{rules}\n")
    (folder / "g.txt").write_text(f"User-agent: *\n{rules}\n")
    result = run_command("lint", "f.txt", "g.txt", "--expect", expected, "--select", "RS4")
    assert result.code == (1 if code else 0)
    found = [tuple(line.split()[:3]) for line in result.lines]
    assert [each[1:] for each in found] == ([(code, "error:")] * 2 if code else [])
    counted = run_command("lint", "f.txt", "--expect", expected, "--select", "RS4", "--statistics")
    assert counted.out.split()[1:3] == ([code, "error"] if code else [])


def test_a_gate_is_open_whatever_else_is_found(run_command: RunCommand, folder: Path) -> None:
    """``--strict`` closes it, as without an expectation."""
    (folder / "f.txt").write_text("User-agent: *\nDisalow: /x\nDisallow: /a\n")
    result = run_command("lint", "f.txt", "--expect", "open")
    assert (result.code, len(result.lines)) == (0, 1)
    assert run_command("lint", "f.txt", "--expect", "closed").code == 1
    assert run_command("lint", "f.txt", "--expect", "open", "--strict").code == 1
    assert run_command("lint", "f.txt").code == 1


def test_the_path_that_may_be_fetched_is_named(run_command: RunCommand, folder: Path) -> None:
    """``--expect closed``."""
    (folder / "f.txt").write_text("User-agent: *\nDisallow: /\nAllow: /a/\n")
    assert '"*" may fetch "/a/"' in run_command("lint", "f.txt", "--expect", "closed").out
    (folder / "f.txt").write_text("")
    assert '"*" may fetch "/"' in run_command("lint", "f.txt", "--expect", "closed").out
    (folder / "f.txt").write_text("<html>")
    assert run_command("lint", "f.txt", "--expect", "open", "--ignore", "RS1").code == 0
