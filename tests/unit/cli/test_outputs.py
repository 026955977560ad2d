"""What is written destroys nothing: no input, no file of another tool, nothing at all by a half."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.support.command_line import RunCommand, shell

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

#: The rights of root that let it write into any folder.
NO_RIGHTS = "setpriv --bounding-set=-dac_override,-dac_read_search "


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
    start = NO_RIGHTS if os.getuid() == 0 else ""
    done = shell(f"{words} -q", written, start=start)
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
