"""The command line in this process, and the files of its tests."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import pytest
from jsonschema import Draft202012Validator

import scrapy_robotspec
from scrapy_robotspec.cli import app
from scrapy_robotspec.cli.session import Session
from scrapy_robotspec.errors import RobotSpecError

ROOT = Path(scrapy_robotspec.__file__).parents[1]

SHOP = """\
# robots.txt of a shop
Sitemap: https://shop.example/sitemap.xml

User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: examplebot
Crawl-delay: 5
Disallow: /cart/
Allow: /cart/help$
Disallow: /*?sort=

User-agent: *
Disallow: /cart/
Disallow: /account
Disallow: fish
Disalow: /typo
Content-Signal: search=yes, ai-train=no
"""

CHANGED = """\
User-agent: *
Disallow: /cart/
Disallow: /account/
Allow: /
"""

#: Everything that steers a terminal or a page: markup, ANSI, bidi marks, control characters.
HOSTILE = (
    b"User-agent: <script>alert(1)</script>\n"
    b"User-agent: *\n"
    b'Disallow: /"><img src=x onerror=alert(2)>\n'
    b"Disallow: /a&b';</style></code></li></ol></section></body>\n"
    b"Sitemap: javascript:alert(3)\n"
    b"Sitemap: https://x.example/<b>\n"
    b"Disallow: /\xe2\x80\xae\x1b[31mred\x07\x00\x7f\x9b31m\xc2\x9b31m\n"
    b"\x1b]0;title\x07: \x1b[2J\n"
    b"# \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xff\xfe \xf3\xa0\x80\x81\n"
    b"Allow: /" + b"A" * 5000 + b"\r\x0b\x0cUser-agent: x\xe2\x80\xa8Disallow: /y\n"
)
HOSTILE_URL = '/"><img src=x onerror=alert(2)>\u202e\x1b[31m'


COMMAND = "scrapy_robotspec.plugin.commands:RobotSpecCommand"

#: The settings of a small project that uses the add-on.
PROJECT_SETTINGS = """\
BOT_NAME = "project"
ROBOTSTXT_OBEY = True
ADDONS = {"scrapy_robotspec.Addon": 500}
USER_AGENT = "examplebot/1.0"
"""


def install_command(folder: Path) -> None:
    """Install ``scrapy robotspec`` in a folder, by its entry point."""
    installed = folder / "under_test-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: under-test\nVersion: 0\n")
    (installed / "entry_points.txt").write_text(f"[scrapy.commands]\nrobotspec = {COMMAND}\n")


@dataclass(frozen=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


#: The folder of the JSON Schemas.
SCHEMAS = Path(scrapy_robotspec.__file__).parent / "cli/schemas"


@cache
def validator(name: str) -> Any:
    """Checks an object by the schema of that name."""
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text("utf-8")))


def check_json(words: Sequence[str], out: str) -> None:
    """Check each line of a command's JSON by its schema."""
    if not {"--json", "json"} & {*words} or {"-h", "--html=-"} & {*words}:
        return
    name = words[0]
    for option in {"--statistics", "--explain"} & {*words} if name == "lint" else ():
        name = f"lint{option[1:]}"
    if name == "audit" and "--robots" in words:
        name = "audit-robots"
    name = "check-by-rule" if "--by-rule" in words else name
    for line in out.splitlines():
        validator(name).validate(json.loads(line))


def query_nothing() -> NoReturn:
    raise RobotSpecError("no site is queried in this process")


def main(words: Sequence[str]) -> int:
    """The exit code of a command line that queries no site."""
    return app.main(partial(Session, load_query=query_nothing), words)


RunCommand = Any  # Callable[..., CommandResult]; fixtures are called by name only


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the files of a shop in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots.txt").write_text(SHOP, encoding="utf-8")
    (tmp_path / "new.txt").write_text(CHANGED, encoding="utf-8")
    (tmp_path / "open.txt").write_text("User-agent: *\nAllow: /\n", encoding="utf-8")
    (tmp_path / "signal.txt").write_text("User-agent: *\nContent-Signal: ai-train=no\n")
    (tmp_path / "hostile.txt").write_bytes(HOSTILE)
    (tmp_path / "urls.txt").write_text(
        "/cart/1\n\n/cart/help\nhttps://shop.example/a?sort=up\n/account/x\n/accounting\n",
        encoding="utf-8",
    )
    return tmp_path


@pytest.fixture
def run_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., CommandResult]:
    """Call the command line with these words in the folder."""

    def call(*words: str) -> CommandResult:
        code = main(words)
        said = capsys.readouterr()
        check_json(words, said.out)
        return CommandResult(code, said.out, said.err)

    return call


#: Before a command: without the rights of root that let it read and write any file.
NO_RIGHTS = "" if os.getuid() else "setpriv --bounding-set=-dac_override,-dac_read_search "


def shell(
    words: str, folder: Path, given: str = "", start: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``robotspec`` in a shell.

    ``words``: as the shell reads them; ``given``: on standard input; ``start``: before the command.
    """
    return subprocess.run(
        f"{start}{shlex.quote(sys.executable)} -m scrapy_robotspec {words}",
        shell=True,
        input=given,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        # Python itself would leave half a compiled module on a full disk.
        env={"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        check=False,
        timeout=180,
    )
