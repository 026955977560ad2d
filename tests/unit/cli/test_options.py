"""Options that several commands share: what they do, which command gets them, and the pages."""

from __future__ import annotations

import inspect
import os
import shutil
import stat
from itertools import combinations
from pathlib import Path

import click
import pytest

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.app import COMMANDS, robotspec
from scrapy_robotspec.cli.session import Session
from tests.support.command_line import NO_RIGHTS, RunCommand, shell

INPUTS = [
    ("check robots.txt / --html {}", "robots.txt"),
    ("check robots.txt --urls urls.txt --html {} --force", "urls.txt"),
    ("explain robots.txt / --html {} --force", "./robots.txt"),
    ("show robots.txt --html {}", "link.txt"),
    ("explain new.txt / --html {} --force", "hard.txt"),
    ("show . --html {} --force", "hostile.txt"),
]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_reaches_its_command(name: str) -> None:
    """Alone, or in the value of several; a name of one kind of value is not another option."""
    command = robotspec.get_command(click.Context(robotspec), name)
    assert command is not None
    assert command.callback is not None
    left = {str(option.name) for option in command.params} - {"color", "quiet", "version"}
    wanted = inspect.signature(command.callback).parameters
    given = {"session"}
    for value, kind in options._KINDS.items():
        if left & set(kind._fields):
            given.add("session" if value in Session._fields else value)
            required = {field for field in kind._fields if field not in kind._field_defaults}
            assert left >= required, value
            left -= set(kind._fields)
    named = {each.name for each in wanted.values() if each.kind is not each.VAR_KEYWORD}
    assert given | left == named or (len(named) < len(wanted) and given | left > named)


def test_kinds_of_values_share_no_option() -> None:
    kinds = [set(kind._fields) for kind in options._KINDS.values()]
    assert not any(one & other for one, other in combinations(kinds, 2))


def test_quiet_leaves_answers_only(run_command: RunCommand) -> None:
    """No summary and no note; the exit code stays."""
    words = ("check", "robots.txt", "/cart/", "http://a.example/x", "http://b.example/")
    loud, quiet = run_command(*words), run_command(*words, "-q")
    assert quiet.code == loud.code == 1
    assert loud.err.endswith("\n3 answers: 2 allowed, 1 disallowed\n")
    assert (quiet.lines, quiet.err) == (loud.lines, "")


def test_colours_can_be_forced_and_refused(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--color wins over everything; FORCE_COLOR counts in a pipe."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    words = ("check", "robots.txt", "/cart/")
    assert "\x1b[31mdisallowed\x1b[0m" in run_command(*words, "--color").out
    assert "\x1b" not in run_command(*words).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m" in run_command(*words).out
    assert "\x1b" not in run_command(*words, "--no-color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run_command(*words).out


@pytest.mark.parametrize(
    "command",
    ["check many.txt / --each-token", "explain many.txt / --each-token",
     "show many.txt --each-token", "editions many.txt / --each-token", "diff many.txt many.txt"],
)  # fmt: skip
@pytest.mark.parametrize(
    "line", ["Disallow: /", "Sitemap: http://a.example/", "License: http://a/"]
)
def test_crawlers_with_too_many_lines_are_refused(
    run_command: RunCommand, folder: Path, command: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither time nor output grows with crawlers times rules, or lines that hold for all."""
    monkeypatch.setattr(options, "MAX_LINES", 1600)
    agents = [f"User-agent: {name}\n" for name in ("a", "b", "c", "d", "e", "f")]
    lines = [f"{line}{number}\n" for number in range(300)]
    parts = [*agents, *lines] if line == "Disallow: /" else [*lines, *agents]
    (folder / "many.txt").write_text("".join(parts))
    result = run_command(*command.split())
    assert result.code == 2
    assert "crawlers that are named have more than 1,600 lines together" in result.err
    assert result.out == ""
    assert run_command("check", "many.txt", "/", "--token", "f").code == 0


def test_the_empty_token_is_no_crawler(run_command: RunCommand, folder: Path) -> None:
    """UAG-03, UAG-11: the edition google reads it, but no User-Agent and no --token leads to it."""
    (folder / "digits.txt").write_text("User-agent: 123\nDisallow: /\n")
    result = run_command("check", "digits.txt", "/", "--each-token", "--edition", "google")
    assert [" ".join(line.split()) for line in result.lines] == [
        "allowed a crawler that no group names / (no group applies)"
    ]


# --- what is written destroys nothing: no input, no file of another tool


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


@pytest.mark.parametrize("urls", [["/a"], []], ids=["several answers", "one answer"])
def test_a_page_contains_no_password(
    run_command: RunCommand, folder: Path, urls: list[str]
) -> None:
    """It goes to the owner of a site, or into an issue."""
    url = "https://user:secret@shop.example/cart/1"
    for command in ("check", "explain"):
        run_command(command, "robots.txt", url, *urls, "--html", "page.html")
        page = (folder / "page.html").read_text(encoding="utf-8")
        assert "https://shop.example/cart/1" in page
        assert "secret" not in page


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
    for name, words in (
        ("no/page.html", "give the name of a file in a folder that exists"),
        ("taken", "is a directory"),
    ):
        result = run_command("check", "robots.txt", "/x", "--html", name)
        assert (result.code, result.out) == (2, "")
        assert words in result.err


#: Commands that replace a file, the file, and what they write into it.
WRITERS = [
    ("lint big.txt --fix --advice", "big.txt"),
    ("show robots.txt --html page.html --force", "page.html"),
]
#: Lines whose proposals make a file longer, behind 20 KB of comments.
BIG = "# padding\n" * 3000 + "User-agent: *\n" + "".join(f"Disallow:/{n}\n" for n in range(50))


@pytest.fixture
def written(folder: Path) -> Path:
    """The folder, with files that commands replace."""
    for name in ("big.txt", "page.html"):
        (folder / name).write_text(BIG)
        (folder / name).chmod(0o640)
    return folder


@pytest.mark.parametrize(("words", "name"), WRITERS)
def test_a_full_disk_leaves_the_file_as_it_was(written: Path, words: str, name: str) -> None:
    """Half a robots.txt would allow what the whole one disallows; exit code 2, one line."""
    names = sorted(written.iterdir())
    done = shell(f"{words} -q", written, start="ulimit -f 4; ")
    assert done.returncode == 2
    assert done.stderr.endswith(f": cannot write {name}: File too large\n")
    assert (written / name).read_text() == BIG
    assert sorted(written.iterdir()) == names


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv, of util-linux")
@pytest.mark.parametrize(("words", "name"), WRITERS)
def test_a_folder_that_takes_no_new_file_is_named(written: Path, words: str, name: str) -> None:
    """The file could be written, but not as a whole."""
    written.chmod(0o555)
    done = shell(f"{words} -q", written, start=NO_RIGHTS)
    written.chmod(0o755)
    assert done.returncode == 2
    assert f"cannot write {name}: . takes no new file: Permission denied\n" in done.stderr
    assert (written / name).read_text() == BIG


@pytest.mark.parametrize(("words", "name"), WRITERS)
def test_a_replaced_file_keeps_its_mode_and_a_link_its_target(
    run_command: RunCommand, written: Path, words: str, name: str
) -> None:
    (written / "target").mkdir()
    (written / name).rename(written / "target/file")
    (written / name).symlink_to("target/file")
    assert run_command(*words.split()).code == 0
    assert (written / name).is_symlink()
    assert (written / "target/file").read_text() != BIG
    assert stat.S_IMODE((written / name).stat().st_mode) == 0o640
    assert [path.name for path in (written / "target").iterdir()] == ["file"]


def test_a_page_can_be_written_to_a_pipe_or_a_device(written: Path, null_device: Path) -> None:
    """As ``--html /dev/null``, and the ``>(command)`` of a shell."""
    done = shell("show robots.txt --html /dev/stderr", written)
    assert "</html>" in done.stderr
    assert shell(f"show robots.txt --html {null_device}", written).returncode == 0
    assert null_device.is_char_device()
