"""FILE and LIST: accepted kinds, and notes about unusual ones."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scrapy_robotspec.editions import EDITIONS
from tests.support.command_line import RunCommand

NOT_READ = "f.txt is longer than the parsing limit: crawlers read"
UNUSUAL = {
    "f.txt: HTML page": b"\n <!DOCTYPE HTML><html><body>Not found</body></html>",
    "f.txt: UTF-16 text": "User-agent: *\nDisallow: /".encode("utf-16"),
    "f.txt: JSON": b'{"message": "Not found"}\n',
    "f.txt: binary data": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00" * 20,
    f"{NOT_READ} nothing of it": b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /\n",
    f"{NOT_READ} its first 512,000 bytes": b"# padding\n" * 60_000
    + b"User-agent: *\nDisallow: /x\n",
}


@pytest.mark.parametrize("command", ["check f.txt /x", "show f.txt"])
@pytest.mark.parametrize("note", UNUSUAL)
def test_an_unusual_file_is_noted_in_one_line(
    run_command: RunCommand, folder: Path, command: str, note: str
) -> None:
    """On standard error, beside the answer (FMT-12); --quiet leaves it out."""
    (folder / "f.txt").write_bytes(UNUSUAL[note])
    result = run_command(*command.split())
    assert result.code == 0
    more = "" if note.startswith(NOT_READ) else "; the parser found 0 rules in it"
    assert result.err == f"note: {note}{more}\n"
    assert run_command(*command.split(), "--quiet").err == ""
    if note.startswith(NOT_READ):  # in the words of the linter
        assert note.partition("crawlers read ")[2] in run_command("lint", "f.txt").out


def test_usual_files_get_no_note(run_command: RunCommand, folder: Path) -> None:
    """Empty, with a byte order mark, in another script, in Latin-1."""
    for body in (
        b"",
        b"\xef\xbb\xbfUser-agent: *\n",
        "# Привет\n".encode(),
        b"# caf\xe9\nAllow: /\n",
    ):
        (folder / "f.txt").write_bytes(body)
        assert run_command("check", "f.txt", "/x").err == ""


def test_a_list_skips_comments_and_blanks_and_reports_bad_lines(
    run_command: RunCommand, folder: Path
) -> None:
    """The rest is answered; the exit code says that something was wrong."""
    lines = ["# comment", "", "  /x  ", "example.com/page", "https://shop.example/y", "mailto:a@b"]
    (folder / "list.txt").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    result = run_command("check", "robots.txt", "--urls", "list.txt")
    assert result.code == 2
    assert result.err == (
        "list.txt:4: neither a URL nor a path, skipped: example.com/page\n"
        "list.txt:6: neither a URL nor a path, skipped: mailto:a@b\n"
        "2 answers: 2 allowed, 0 disallowed\n"
    )
    assert [line.split()[1] for line in result.lines] == ["/x", "https://shop.example/y"]
    (folder / "list.txt").write_text("nonsense\n" * 30 + "/cart/\n")
    result = run_command("check", "robots.txt", "--urls", "list.txt")
    assert (result.code, len(result.err.splitlines())) == (1, 21)
    assert result.err.endswith("and 10 more\n")


@pytest.mark.parametrize("edition", EDITIONS)
def test_bytes_other_than_utf_8_are_compared_as_clients_send_them(
    run_command: RunCommand, folder: Path, edition: str
) -> None:
    """FMT-04: a URL in another encoding meets a rule in the same encoding."""
    (folder / "f.txt").write_bytes(b"User-agent: *\nDisallow: /caf\xe9\n")
    (folder / "list.txt").write_bytes(b"/caf\xe9\n/caf\xc3\xa9\n")
    result = run_command("check", "f.txt", "--urls", "list.txt", "--edition", edition)
    assert result.out.splitlines() == [
        r"disallowed  /caf%E9  (line 2: Disallow: /caf\xe9)",
        "allowed     /café  (no rule of the group matches)",
    ]


def test_a_folder_stands_for_its_files(run_command: RunCommand, folder: Path) -> None:
    """Each line names its file; hidden files and other endings are left out."""
    (folder / "sites/deep/.git").mkdir(parents=True)
    for name in ("B.TXT", "a.robots", "deep/c.txt", "deep/.git/d.txt", ".hidden.txt", "page.html"):
        (folder / "sites" / name).write_text("User-agent: *\nDisallow: /x\n")
    assert run_command("check", "sites", "/x", "--token", "a").out == (
        "disallowed  sites/B.TXT  /x  (line 2: Disallow: /x)\n"
        "disallowed  sites/a.robots  /x  (line 2: Disallow: /x)\n"
        "disallowed  sites/deep/c.txt  /x  (line 2: Disallow: /x)\n"
    )
    result = run_command("explain", "sites", "/x")
    assert result.code == 1
    assert result.out.count("verdict    disallowed") == 3
    assert run_command("show", "sites").out.count("1 group, 1 rule") == 3


def test_a_crawler_is_shown_by_the_name_in_the_file(run_command: RunCommand, folder: Path) -> None:
    """UAG-03: the file says MJ12bot, which is read as MJ."""
    (folder / "f.txt").write_text("User-agent: MJ12bot\nDisallow: /\n")
    result = run_command("check", "f.txt", "/", "--each-token")
    assert result.lines[0] == "disallowed  MJ12bot (read as MJ)            /  (line 2: Disallow: /)"
    assert "MJ12bot" in run_command("show", "f.txt").out


@pytest.fixture
def pipe() -> Iterator[Callable[[str], str]]:
    """Makes a pipe that holds a text, named as a shell names that of ``<(command)``."""
    if not os.path.isdir("/dev/fd"):
        pytest.skip("pipes have no names here")
    ends: list[int] = []

    def named(text: str) -> str:
        out, into = os.pipe()
        ends.append(out)
        os.write(into, text.encode())
        os.close(into)
        return f"/dev/fd/{out}"

    yield named
    for end in ends:
        os.close(end)


def test_lists_of_bulk_are_read_from_pipes(
    run_command: RunCommand, folder: Path, pipe: Callable[[str], str]
) -> None:
    """Their names, such as ``/dev/fd/63``, are neither those of crawlers nor paths."""
    lists = ("--tokens", pipe("GPTBot\n"), "--paths", pipe("/cart/\n"))
    arguments = ("robots.txt", *lists, "--format", "csv", "--out", "verdicts")
    assert run_command("bulk", *arguments).code == 0
    with (folder / "verdicts/robots.txt.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["token"] == "GPTBot"
    assert [each["path"] for each in json.loads(row["paths"])] == ["/cart/"]


def test_a_log_is_read_from_a_pipe(run_command: RunCommand, pipe: Callable[[str], str]) -> None:
    """Also with a terminal, which shows the progress."""
    line = '192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /cart/1 HTTP/1.1" 200 5 "-" "GPTBot"\n'
    result = run_command("audit", pipe(line), "--robots", pipe("User-agent: *\nDisallow: /\n"))
    assert (result.code, result.err.count("1 request read")) == (1, 1)


def test_only_files_can_be_fixed(run_command: RunCommand, pipe: Callable[[str], str]) -> None:
    """A pipe has been read when its findings are to be shown."""
    result = run_command("lint", "--fix", pipe("User-agent: *\nDisallow: fish\n"))
    assert (result.code, result.out) == (2, "")
    assert result.err == "robotspec lint: --fix changes files: give paths\n"
