"""``robotspec bulk``: what it prints, and what it refuses."""

from __future__ import annotations

import csv
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.protocol.lint.crawlers import KNOWN_CRAWLERS
from tests.support.warc import response, write_warc

if TYPE_CHECKING:
    from tests.support.command_line import RunCommand


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_summary_counts_rows_and_files(run_command: RunCommand, folder: Path) -> None:
    """And the exit code is 0, whatever is disallowed."""
    result = run_command(
        "bulk", "robots.txt", "new.txt", "--tokens", "GPTBot,CCBot", "--out", "out.csv"
    )
    assert (result.code, result.out, result.err) == (0, "out.csv: 4 rows about 2 files\n", "")
    assert [row["class"] for row in rows(folder / "out.csv")] == ["denies all"] * 2 + ["some"] * 2


def test_lists_are_files_or_words(run_command: RunCommand, folder: Path) -> None:
    """Blank lines and comments of a file are skipped."""
    (folder / "names.txt").write_text("# crawlers\nGPTBot\n\n  CCBot \n")
    (folder / "paths.txt").write_text("/cart/\n/a,b\n")
    run_command(
        *["bulk", "robots.txt", "--tokens", "names.txt", "--paths", "paths.txt", "--out", "a.jsonl"]
    )
    run_command(
        *[
            "bulk",
            "robots.txt",
            "--tokens",
            "GPTBot,CCBot",
            "--paths",
            "/cart/,/b",
            "--out",
            "b.jsonl",
        ]
    )
    found = [
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("a.jsonl", "b.jsonl")
    ]
    assert [[row["token"] for row in each] for each in found] == [["GPTBot", "CCBot"]] * 2
    paths = [[path["path"] for path in each[0]["paths"]] for each in found]
    assert paths == [["/cart/", "/a,b"], ["/cart/", "/b"]]


def test_known_stands_for_the_crawlers_of_the_linter(run_command: RunCommand, folder: Path) -> None:
    """Names that are not product tokens are noted with the token they are asked by."""
    result = run_command("bulk", "robots.txt", "--tokens", "@known", "--out", "out.csv")
    assert [row["token"] for row in rows(folder / "out.csv")] == list(KNOWN_CRAWLERS)
    assert "note: MJ12bot is MJ in google-2019" in result.err.splitlines()


def test_a_name_that_no_group_can_have_is_noted(run_command: RunCommand) -> None:
    """UAG-11."""
    result = run_command("bulk", "robots.txt", "--tokens", "360Spider", "--out", "out.csv")
    assert result.err.startswith("note: no group can name 360Spider in google-2019")


def test_several_editions_are_asked(run_command: RunCommand, folder: Path) -> None:
    """A row for each."""
    words = "bulk robots.txt --tokens x --edition rfc9309 --edition google-2010 --out out.csv"
    assert run_command(*words.split()).code == 0
    assert [row["edition"] for row in rows(folder / "out.csv")] == ["rfc9309", "google-2010"]


def test_what_cannot_be_read_is_named_and_changes_the_exit_code(
    run_command: RunCommand, folder: Path
) -> None:
    """The rest is written; terminal sequences of a file do not reach the terminal."""
    (folder / "x.jsonl").write_text('{"url": "https://a.example/", "body": ""}\n{"url": 1}\n')
    result = run_command("bulk", "x.jsonl", "--tokens", "x", "--out", "out.csv")
    assert result.code == 1
    assert result.err == "x.jsonl:byte 42: not an object with url and body, skipped\n"
    assert result.out == "out.csv: 1 row about 1 file\n"


def test_text_of_an_archive_does_not_reach_the_terminal(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not through the log of the library that reads it, which nobody has configured."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    write_warc(folder / "x.warc", [response("https://a.example/\x1b[31m x", b"")])
    result = run_command("bulk", "x.warc", "--tokens", "x", "--out", "out.csv")
    assert result.err == "3 records skipped: not robots.txt responses\n"


def test_ignored_files_are_counted(run_command: RunCommand, folder: Path) -> None:
    """A study must not miss files without a word."""
    (folder / "more").mkdir()
    (folder / "more/a.txt").write_bytes(b"")
    (folder / "more/b.md").write_bytes(b"")
    result = run_command("bulk", "more", "--tokens", "x", "--out", "out.csv")
    reasons = "hidden, links to folders, broken links, or with other endings"
    assert result.err == f"1 file of folders ignored: {reasons}\n"
    assert run_command("bulk", "more", "--tokens", "x", "--out", "out.csv", "-q").err == ""


def test_sigterm_while_inputs_are_listed_is_as_ctrl_c(
    run_command: RunCommand, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders and archives can be large; nothing is begun yet."""

    def terminated(inputs: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("the signal was ignored")

    monkeypatch.setattr("scrapy_robotspec.bulk.inputs.plan.plan", terminated)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        result = run_command("bulk", "robots.txt", "--tokens", "x", "--out", "out.csv")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.code, result.err.strip()) == (130, "")
    assert not (folder / "out.csv.parts").exists()


MISUSE = [
    ("robots.txt --tokens x --out out.txt", "--out out.txt must end in .parquet, .csv, .jsonl"),
    ("robots.txt --tokens x --out robots.txt", "must end in"),
    ("robots.txt --tokens x --out no/out.csv", "cannot write no/out.csv: folder no does not exist"),
    ("missing --tokens x --out out.csv", "cannot read missing: No such file or directory"),
    ("taken.csv --tokens x --out out.csv", "taken.csv is not an input that can be read"),
    ("robots.txt --tokens x --out taken.csv", "taken.csv exists and is not an output of this tool"),
    ("robots.txt --tokens names.txt --out out.csv", "cannot read names.txt: no such file"),
    ("robots.txt --tokens , --out out.csv", "give a file of names"),
    (
        "robots.txt --tokens @all --out out.csv",
        "give a file of names, names with commas, or @known",
    ),
    ("robots.txt --tokens x,@known --out out.csv", "--tokens x,@known: give a file of names"),
    ("robots.txt --tokens x --paths a,/b --out out.csv", "'a' does not begin with a slash"),
    ("robots.txt --tokens x --edition no --out out.csv", "no"),
    ("robots.txt --out out.csv", "--tokens"),
    ("robots.txt --tokens x", "--out"),
]


@pytest.mark.parametrize(("words", "message"), MISUSE)
def test_misuse_is_named_before_the_work_begins(
    run_command: RunCommand, folder: Path, words: str, message: str
) -> None:
    """Exit code 2, nothing written."""
    (folder / "taken.csv").write_text("a,b\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = run_command("bulk", *words.split())
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_an_input_is_never_overwritten(run_command: RunCommand, folder: Path) -> None:
    """Not even with --force, nor when it is in a folder of inputs."""
    line = '{"url": "https://a.example/", "body": ""}\n'
    (folder / "more").mkdir()
    (folder / "more/x.jsonl").write_text(line)
    for given in ("more", "more/x.jsonl", "./more/../more"):
        result = run_command("bulk", given, "--tokens", "x", "--out", "more/x.jsonl", "--force")
        assert result.code == 2
        assert "would overwrite an input" in result.err
    assert (folder / "more/x.jsonl").read_text() == line


def test_an_output_is_overwritten_and_another_file_only_by_force(
    run_command: RunCommand, folder: Path
) -> None:
    """As for pages."""
    words = ("bulk", "robots.txt", "--tokens", "x", "--out", "out.parquet")
    assert run_command(*words).code == 0
    assert run_command(*words).code == 0
    (folder / "out.parquet").write_bytes(b"mine")
    assert run_command(*words).code == 2
    assert run_command(*words, "--force").code == 0
    assert not (folder / "out.parquet.parts").exists()


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("pyarrow", "robots.txt", "robotspec bulk needs pyarrow"),
        ("warcio", "a.warc", "a.warc is a WARC file, which needs warcio"),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(
    folder: Path, module: str, name: str, expected: str
) -> None:
    """Everything else works without it."""
    (folder / "a.warc").write_bytes(b"WARC/1.0\r\n")
    program = (
        f"import sys; sys.modules[{module!r}] = None; from scrapy_robotspec.cli.app import main; "
        f"sys.exit(main(['bulk', {name!r}, '--tokens', 'x', '--out', 'out.csv']))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"{expected}: pip install 'scrapy-robotspec[bulk]'" in done.stderr
    assert "Traceback" not in done.stderr
