"""The study of docs/bulk.md: its commands give the table and the picture that the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import run

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
