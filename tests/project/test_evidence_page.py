"""docs/evidence.md: each command is run and prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import scrapy_robotspec
from tests.support.server import Server

PAGE = (Path(scrapy_robotspec.__file__).parents[1] / "docs/evidence.md").read_text("utf-8")
SESSION = re.compile(r"^```shell-session\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^\$ ([^\n]+)\n((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)
TEXTS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: Texts that differ from run to run.
CHANGING = [
    (re.compile(r"\d{8}T\d{6}Z-\d+-[0-9a-f]{8}"), "RUN"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:]{8}Z"), "TIME"),
    (re.compile(r"-in \S+/evidence/"), "-in evidence/"),
]
SPIDER = """\
import scrapy


class Shop(scrapy.Spider):
    name = "shop"
    start_urls = [f"http://shop.example{path}" for path in ("/", "/cart/", "/?sort=price")]

    def parse(self, response):
        return None
"""
#: What a shell needs to run the commands as installed.
SHELL = """
robotspec() { "$PYTHON" -m scrapy_robotspec "$@"; }
scrapy() { "$PYTHON" -m scrapy "$@"; }
"""


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project of the page."""
    (settings,) = blocks("python")
    (configuration,) = blocks("ini")
    asking, signing, making = blocks("sh")
    (tmp_path / "tsa.cnf").write_text(configuration)
    (tmp_path / "stamp.sh").write_text(asking.splitlines()[0] + "\n" + signing)
    subprocess.run(["sh", "-c", making], cwd=tmp_path, capture_output=True, check=True)
    settings = f'BOT_NAME = "project"\nSPIDER_MODULES = ["shop"]\n{settings}'
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (tmp_path / "project_settings.py").write_text(settings)
    (tmp_path / "shop.py").write_text(SPIDER)
    return tmp_path


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """The site of the page, behind a proxy."""
    with Server() as server:
        server.site("shop.example", TEXTS[0], port=80)
        proxy = f"http://127.0.0.1:{server.port}"
        root = str(Path(scrapy_robotspec.__file__).parents[1])
        path = os.pathsep.join((root, "."))
        own = {"http_proxy": proxy, "no_proxy": "", "PYTHON": sys.executable, "PYTHONPATH": path}
        yield {**os.environ, **own, "LC_ALL": "C"}


def steady(text: str) -> str:
    """*text* without what differs from run to run."""
    for pattern, standing in CHANGING:
        text = pattern.sub(standing, text)
    return text


def test_the_page_shows_what_its_commands_print(folder: Path, environment: dict[str, str]) -> None:
    shown = [found for session in SESSION.findall(PAGE) for found in COMMANDS.findall(session)]
    assert len(shown) > 5
    for command, expected in shown:
        if "audit" in command:  # its log is one of today
            today = time.strftime("%d/%b/%Y:%H:%M:", time.gmtime(time.time() + 60))
            log = TEXTS[1].replace("31/Jan/2026:12:00:", today)
            (folder / "access.log").write_text(log)
        done = subprocess.run(
            ["bash", "-c", f"{SHELL}\n{command}"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert steady(done.stdout) == steady(expected), command
        if "verify its time stamp" in done.stdout:
            verifying = done.stdout.partition("verify its time stamp: ")[2].strip()
            words = shlex.split(verifying.replace("AUTHORITY.pem", "tsa.pem"))
            assert (
                subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode == 0
            )
