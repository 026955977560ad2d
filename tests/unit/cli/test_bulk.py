"""``robotspec bulk``: what it prints."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from scrapy_robotspec.protocol.lint.crawlers import KNOWN_CRAWLERS
from tests.support.command_line import RunCommand

CSV = ("--out", "out", "--format", "csv")


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_summary_counts_rows_and_files(run_command: RunCommand, folder: Path) -> None:
    """And the exit code is 0, whatever is disallowed."""
    words = ("bulk", "robots.txt", "new.txt", "--tokens", "GPTBot,CCBot", *CSV)
    result = run_command(*words)
    assert (result.code, result.out, result.err) == (0, "out: 4 rows about 2 files\n", "")
    found = [rows(folder / "out" / name) for name in ("robots.txt.csv", "new.txt.csv")]
    assert [row["class"] for some in found for row in some] == ["denies all"] * 2 + ["some"] * 2
    again = run_command(*words)
    assert (again.code, again.out, again.err) == (0, result.out, "2 outputs of out kept\n")


def test_lists_are_files_or_words(run_command: RunCommand, folder: Path) -> None:
    """Blank lines and comments of a file are skipped."""
    (folder / "names.txt").write_text("# crawlers\nGPTBot\n\n  CCBot \n")
    (folder / "paths.txt").write_text("/cart/\n/a,b\n")
    for number, (tokens, paths) in enumerate(
        [("names.txt", "paths.txt"), ("GPTBot,CCBot", "/cart/,/b")]
    ):
        out = ("--out", f"out{number}", "--format", "csv")
        run_command("bulk", "robots.txt", "--tokens", tokens, "--paths", paths, *out)
    found = [rows(folder / name / "robots.txt.csv") for name in ("out0", "out1")]
    assert [[row["token"] for row in each] for each in found] == [["GPTBot", "CCBot"]] * 2
    listed = [[path["path"] for path in json.loads(each[0]["paths"])] for each in found]
    assert listed == [["/cart/", "/a,b"], ["/cart/", "/b"]]


def test_bytes_other_than_utf_8_are_escaped(run_command: RunCommand, folder: Path) -> None:
    """On the command line as in a file."""
    (folder / "names.txt").write_bytes(b"GPTBot/\xff\n")
    (folder / "paths.txt").write_bytes(b"/\xff\n")
    (folder / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /\xff\n")
    for tokens, paths in (("names.txt", "paths.txt"), ("GPTBot/\udcff", "/\udcff")):
        out = ("--out", f"out of {tokens[:6]}", "--format", "csv")
        result = run_command("bulk", "robots.txt", "--tokens", tokens, "--paths", paths, *out)
        assert result.code == 0, result.err
    one, other = (
        rows(folder / name / "robots.txt.csv") for name in ("out of names.", "out of GPTBot")
    )
    assert one == other
    assert one[0]["token"] == r"GPTBot/\xff"
    (path,) = json.loads(one[0]["paths"])
    assert (path["path"], path["allowed"]) == ("/%FF", False)
    checked = run_command("check", "robots.txt", "--urls", "paths.txt")
    assert checked.lines == [r"disallowed  /%FF  (line 2: Disallow: /\xff)"]


def test_columns_are_chosen(run_command: RunCommand, folder: Path) -> None:
    """A wrong name is misuse."""
    words = ("bulk", "robots.txt", "--tokens", "x", *CSV)
    assert run_command(*words, "--columns", "allowed, token").code == 0
    assert (folder / "out/robots.txt.csv").read_text().splitlines()[0] == '"token","allowed"'
    result = run_command(*words, "--columns", "verdict")
    assert result.code == 2
    assert "columns contains 'verdict'" in result.err


def test_known_stands_for_the_crawlers_of_the_linter(run_command: RunCommand, folder: Path) -> None:
    """Names that are not product tokens are noted with the token they are asked by."""
    result = run_command("bulk", "robots.txt", "--tokens", "@known", *CSV)
    assert [row["token"] for row in rows(folder / "out/robots.txt.csv")] == list(KNOWN_CRAWLERS)
    assert "note: MJ12bot is MJ in google-2019" in result.err.splitlines()


def test_a_name_that_no_group_can_have_is_noted(run_command: RunCommand) -> None:
    """UAG-11."""
    result = run_command("bulk", "robots.txt", "--tokens", "360Spider", *CSV)
    assert result.err.startswith("note: no group can name 360Spider in google-2019")


def test_several_editions_are_asked(run_command: RunCommand, folder: Path) -> None:
    """A row for each."""
    words = (
        "bulk robots.txt --tokens x --edition rfc9309 --edition google-2010 --out out --format csv"
    )
    assert run_command(*words.split()).code == 0
    assert [row["edition"] for row in rows(folder / "out/robots.txt.csv")] == [
        "rfc9309",
        "google-2010",
    ]


def test_what_cannot_be_read_is_named_and_changes_the_exit_code(
    run_command: RunCommand, folder: Path
) -> None:
    """The rest is written; terminal sequences of a file do not reach the terminal."""
    (folder / "x.jsonl").write_text('{"url": "https://a.example/", "body": ""}\n{"url": 1}\n')
    result = run_command("bulk", "x.jsonl", "--tokens", "x", *CSV)
    assert result.code == 1
    assert result.err == "x.jsonl:2: not an object with url and body, skipped\n"
    assert result.out == "out: 1 row about 1 file\n"


def test_text_of_an_input_does_not_reach_the_terminal(
    run_command: RunCommand, folder: Path
) -> None:
    """Names of files, and values that are named."""
    (folder / "x\x1b[31m.jsonl").write_text(
        '{"url": "https://a.example/", "body": {"\\u001b": 1}}\n'
    )
    result = run_command("bulk", "x\x1b[31m.jsonl", "--tokens", "x", *CSV)
    assert result.code == 1
    assert "\x1b" not in result.err


def test_ignored_files_are_counted(run_command: RunCommand, folder: Path) -> None:
    """A study must not miss files without a word."""
    (folder / "more").mkdir()
    (folder / "more/a.txt").write_bytes(b"")
    (folder / "more/b.md").write_bytes(b"")
    result = run_command("bulk", "more", "--tokens", "x", *CSV)
    reasons = "hidden, links, or with other endings"
    assert result.err == f"1 file of folders ignored: {reasons}\n"
    assert run_command("bulk", "more", "--tokens", "x", "--out", "out.csv", "-q").err == ""
