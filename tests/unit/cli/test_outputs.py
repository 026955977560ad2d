"""Pages never destroy anything: no input, no file of another tool."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.command_line import RunCommand

INPUTS = [
    ("check robots.txt / --html {}", "robots.txt"),
    ("check robots.txt --urls urls.txt --html {} --force", "urls.txt"),
    ("explain robots.txt / --html {} --force", "./robots.txt"),
    ("show robots.txt --html {}", "link.txt"),
    ("explain new.txt / --html {} --force", "hard.txt"),
    ("show . --html {} --force", "hostile.txt"),
]


@pytest.mark.parametrize(
    ("command", "name"), [pytest.param(*one, id=" ".join(one)) for one in INPUTS]
)
def test_an_input_is_never_overwritten(
    run_command: RunCommand, folder: Path, command: str, name: str
) -> None:
    """By whatever name it is given: path, symbolic link, hard link, or in a folder."""
    (folder / "link.txt").symlink_to("robots.txt")
    os.link(folder / "new.txt", folder / "hard.txt")
    before = (folder / name).read_bytes()
    result = run_command(*command.format(name).split())
    assert result.code == 2
    assert f"--html {name} would overwrite an input" in result.err
    assert result.out == ""
    assert (folder / name).read_bytes() == before


def test_a_file_of_another_tool_is_overwritten_only_by_force(
    run_command: RunCommand, folder: Path
) -> None:
    """A page of ours is replaced; any other file needs --force."""
    page = folder / "page.html"
    page.write_text("<!doctype html>precious")
    result = run_command("explain", "robots.txt", "/x", "--html", "page.html")
    assert result.code == 2
    assert "exists and is not a page of this tool" in result.err
    assert page.read_text() == "<!doctype html>precious"
    result = run_command("explain", "robots.txt", "/x", "--html", "page.html", "--force")
    assert (result.code, result.err) == (0, "page written: page.html\n")
    assert run_command("explain", "robots.txt", "/cart/1", "--html", "page.html").code == 1
    assert "/cart/1" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["check robots.txt /x", "show robots.txt"])
def test_a_dash_prints_the_page_instead_of_the_answer(
    run_command: RunCommand, folder: Path, command: str
) -> None:
    """--html - writes to standard output, and makes no file of that name."""
    result = run_command(*command.split(), "--html", "-")
    assert result.code == 0
    assert result.out.startswith("<!doctype html>")
    assert result.out.rstrip().endswith("</html>")
    assert not (folder / "-").exists()


def test_the_output_is_checked_before_the_work_begins(
    run_command: RunCommand, folder: Path
) -> None:
    """No answer is printed for a page that cannot be written."""
    (folder / "taken").mkdir()
    for name, words in (("no/page.html", "folder no does not exist"), ("taken", "is a directory")):
        result = run_command("check", "robots.txt", "/x", "--html", name)
        assert (result.code, result.out) == (2, "")
        assert words in result.err
