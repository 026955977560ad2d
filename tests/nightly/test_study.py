"""The study of docs/bulk.md: its commands give the table and the picture that the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import run
from tests.support.command_line import main
from tests.support.warc import response, write_warc

ROOT = Path(run.__file__).parent
PAGE = (ROOT / "docs/bulk.md").read_text("utf-8")


def test_the_commands_give_the_table_and_the_picture_of_the_page(tmp_path: Path) -> None:
    """To the byte: files, verdicts and picture follow from a seed."""
    section = PAGE.partition("## A study in one page")[2]
    commands, table = re.findall(
        r"^```(?:console|text)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL
    )
    printed = ""
    for line in commands.splitlines():
        program, *words = shlex.split(line)
        if program == "python":
            words[0] = str(ROOT / words[0])
        else:
            words = ["-m", "scrapy_robotspec", *words]
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        printed = done.stdout
    assert printed == table
    picture = (tmp_path / "who-is-denied.svg").read_text("utf-8")
    assert picture == (ROOT / "docs/images/who-is-denied.svg").read_text("utf-8")
    assert len(list(ElementTree.fromstring(picture))) > 9 * 5


def test_site_counts_once_for_each_crawler(tmp_path: Path) -> None:
    """Whatever the number of editions, and with redirects to it."""
    url, moved = "https://a.example/robots.txt", [("Location", "https://a.example/robots.txt")]
    records = [
        response(url, b"User-agent: *\nDisallow: /"),
        response("http://a.example/robots.txt", b"", status=301, headers=moved),
    ]
    archive, out = write_warc(tmp_path / "1.warc.gz", records), tmp_path / "verdicts"
    editions = ["--edition", "google-2019", "--edition", "rfc9309"]
    words = ["bulk", str(archive), "--tokens", "GPTBot,CCBot", *editions, "--out", str(out)]
    assert main(words) == 0
    script, picture = ROOT / "example_project/study/who_is_denied.py", tmp_path / "x.svg"
    subprocess.run([sys.executable, str(script), str(out), str(picture)], check=True)
    assert "1 sites with a robots.txt file" in picture.read_text("utf-8")


def test_join_of_the_page_finds_targets_of_redirects(tmp_path: Path) -> None:
    """A redirect into any archive has the verdict of its target, unless it is the sixth."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: tox -e nightly has it")
    urls = [f"https://{n}.example/robots.txt" for n in range(8)]
    hops = [
        response(url, b"", status=301, headers=[("Location", target)])
        for url, target in pairwise(urls)
    ]
    write_warc(tmp_path / "1.warc.gz", hops[:3])
    write_warc(
        tmp_path / "2.warc.gz", [*hops[3:], response(urls[-1], b"User-agent: *\nDisallow: /")]
    )
    out = tmp_path / "verdicts"
    archives = [str(tmp_path / name) for name in ("1.warc.gz", "2.warc.gz")]
    assert main(["bulk", *archives, "--tokens", "GPTBot", "--out", str(out)]) == 0
    query = PAGE.partition("## Redirects")[2].partition("```sql\n")[2].partition("```")[0]
    found = duckdb.sql(query.replace("verdicts/", f"{out}/")).fetchall()
    assert [(origin, allowed) for origin, _, _, allowed in found] == [
        ("https://2.example", False),
        ("https://3.example", False),
        ("https://4.example", False),
        ("https://5.example", False),
        ("https://6.example", False),
    ]
