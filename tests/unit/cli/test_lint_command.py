"""The forms of the linter's findings on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.command_line import SHOP

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_line import Tell


def test_github_annotations_name_file_line_and_code(tell: Tell, folder: Path) -> None:
    """Workflow commands, with the characters escaped that would end a part."""
    (folder / "a,b:c%.txt").write_text(SHOP + "Disallow:/x\n")
    told = tell("lint", "a,b:c%.txt", "--format", "github", "--advice")
    assert told.code == 1
    assert told.lines[0].startswith("::error file=a%2Cb%3Ac%25.txt,line=17,title=RS301::")
    kinds = {line.split(" ")[0] for line in told.lines}
    assert kinds == {"::error", "::notice"}


def test_sarif_is_one_document_with_rules_and_places(tell: Tell, folder: Path) -> None:
    """Each result refers to its rule, its file and a line of it."""
    (folder / "with space.txt").write_text(SHOP)
    told = tell("lint", "robots.txt", "with space.txt", "--format", "sarif")
    document = json.loads(told.out)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
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


def test_a_clean_file_gives_an_empty_document(tell: Tell, folder: Path) -> None:
    """Code scanning needs a document also without results."""
    (folder / "clean.txt").write_text("User-agent: *\nDisallow: /a/\n")
    told = tell("lint", "clean.txt", "--format", "sarif")
    assert told.code == 0
    assert json.loads(told.out)["runs"][0]["results"] == []


def test_findings_of_a_folder_do_not_depend_on_the_number_of_processes(
    tell: Tell, folder: Path
) -> None:
    """In the order of the files."""
    (folder / "many").mkdir()
    for number in range(30):
        (folder / "many" / f"{number:02}.txt").write_text(SHOP if number % 2 else "Disalow: /\n")
    one, three = (tell("lint", "many", "--jobs", jobs) for jobs in ("1", "3"))
    assert one == three
    assert [line.split(":")[0] for line in one.lines] == sorted(
        line.split(":")[0] for line in one.lines
    )
    assert one.err.endswith(" in 30 files\n")


def test_a_page_of_a_thousand_files_stays_small(tell: Tell, folder: Path) -> None:
    """Below 3 MB, with the counts of every file."""
    (folder / "many").mkdir()
    bad = "User-agent: *\n" + "".join(f"Disalow: /{number}\n" for number in range(60))
    for number in range(1000):
        (folder / "many" / f"{number}.txt").write_text(bad)
    tell("lint", "many", "--advice", "--html", "page.html", "-q", "--jobs", "1")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert page.count('<th scope="row">') >= 1000


def test_advice_is_shown_when_its_code_is_selected(tell: Tell) -> None:
    """--select needs no --advice beside it."""
    told = tell("lint", "open.txt", "--select", "rs9")
    assert (told.code, len(told.lines)) == (0, 1)
    assert "RS902 advice" in told.out


def test_sarif_proposes_only_what_a_finding_proposes(tell: Tell, folder: Path) -> None:
    """A line to delete, and one to replace, with the region of the line."""
    (folder / "f.txt").write_text("User-agent: *\nDisallow: /a/\nDisallow: /a/\nDisallow:/b/\n")
    told = tell("lint", "f.txt", "--format", "sarif", "--advice")
    rows = [json.loads(line) for line in tell("lint", "f.txt", "--json", "--advice").lines]
    (run,) = json.loads(told.out)["runs"]
    assert len(run["results"]) == len(rows)
    for result, row in zip(run["results"], rows, strict=True):
        if row["replacement"] is None:
            assert "fixes" not in result
            continue
        (change,) = result["fixes"][0]["artifactChanges"]
        (replacement,) = change["replacements"]
        assert replacement["deletedRegion"]["startLine"] == row["line"]
        inserted = replacement.get("insertedContent", {"text": ""})["text"]
        assert inserted == row["replacement"]
    assert [row["line"] for row in rows if row["replacement"] == ""] == [3]
