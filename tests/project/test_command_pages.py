"""The pages about the command line: each command is run again and prints what the page shows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import scrapy_robotspec
from scrapy_robotspec.cli.app import COMMANDS, robotspec
from scrapy_robotspec.render.crawl_report import OriginStats, report_lines
from tests.support.command_line import PROJECT_SETTINGS, install_command
from tests.support.crawl_starter import ForkedProcess
from tests.support.responses import reply
from tests.support.server import Server

ROOT = Path(scrapy_robotspec.__file__).parents[1]
PAGES = [ROOT / "docs/why.md", ROOT / "docs/command-line.md"]

FILE = re.compile(r"^`([\w.]+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```shell-session\n\$ ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- table: begin -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Texts that differ from run to run.
CHANGING = [
    (re.compile(r"\b\d+(\.\d+)? s\b"), "0 s"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "2026-01-31 12:00:00 UTC"),
    (re.compile(r" through a proxy\b"), ""),  # as a reader has no proxy before these sites
]


def steady(text: str) -> str:
    """``text`` without what differs from run to run."""
    for pattern, standing in CHANGING:
        text = pattern.sub(standing, text)
    return text


def files_of(page: Path) -> dict[str, str]:
    """The files that a page shows."""
    return {match[1]: match[2] for match in FILE.finditer(page.read_text(encoding="utf-8"))}


SESSIONS = [
    pytest.param(page, match[1], match[2], id=f"{page.name}: {match[1]}")
    for page in PAGES
    for match in SESSION.finditer(page.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def web() -> Iterator[dict[str, str]]:
    """The sites of the pages, behind a proxy: the shop, one that is down, one without a file."""
    with Server() as server:
        shop = files_of(PAGES[0])["robots.txt"]
        server.site("shop.example", shop, port=80)
        server.site("down.example", reply("", status=503), port=80)
        server.site("missing.example", reply("", status=404), port=80)
        proxy = f"http://127.0.0.1:{server.port}"
        yield {"http_proxy": proxy, "no_proxy": "", "NO_PROXY": ""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which the command is installed."""
    install_command(tmp_path)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (tmp_path / "project_settings.py").write_text(PROJECT_SETTINGS)
    return tmp_path


def call(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    """The output of a command line of the pages, as a terminal shows it."""
    module = {"robotspec": "scrapy_robotspec", "scrapy": "scrapy"}[words[0]]
    path = folder / "printed.txt"
    with path.open("wb") as printed:
        process = ForkedProcess([module, *words[1:]], folder, environment, printed, printed)
        assert process.wait(60) is not None
    said = path.read_text(encoding="utf-8")
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(("page", "command", "output"), SESSIONS)
def test_the_output_shown_is_real(
    web: dict[str, str], folder: Path, page: Path, command: str, output: str
) -> None:
    """A command of a page, run in a folder with the page's files, says what the page shows."""
    for name, text in files_of(page).items():
        (folder / name).write_text(text, encoding="utf-8")
    assert steady(call(shlex.split(command), folder, web)) == steady(output)


SPIDER = """\
import scrapy

class Shop(scrapy.Spider):
    name = "shop"
    start_urls = [
        "http://shop.example/",
        "http://shop.example/about",
        "http://shop.example/cart/1",
        "http://shop.example/cart/2",
        "http://shop.example/list?sort=price",
        "http://missing.example/",
        "http://down.example/",
    ]
    custom_settings = {"ROBOTSPEC_HOLD_TIMEOUT": 0, "LOG_LEVEL": "INFO"}

    def parse(self, response):
        pass
"""


def test_the_table_shown_is_that_of_a_crawl(web: dict[str, str], folder: Path) -> None:
    """The table at the end of a crawl of the page's sites."""
    (folder / "shop.py").write_text(SPIDER)
    log = folder / "log.txt"
    call(["scrapy", "runspider", "shop.py", "--logfile", str(log)], folder, web)
    shown = TABLE.search(PAGES[0].read_text(encoding="utf-8"))
    assert shown is not None
    said = log.read_text(encoding="utf-8")
    assert _table(shown[1]) == _table(said[said.index("robots.txt files of this crawl:") :])


def _table(text: str) -> list[list[str]]:
    """The lines up to the next log line, without times.

    Lines and the parts of each are in an order of their own: equal counts come as sites answer.
    """
    lines = [steady(line).strip() for line in text.splitlines()[1:]]
    end = next((at for at, line in enumerate(lines) if re.match(r"\d{4}-", line)), len(lines))
    return sorted(sorted(re.split("[(), ]+", line)) for line in lines[:end])


def test_the_page_names_every_key_of_the_report() -> None:
    """The schema that the page shows has the keys of the rows, in their order."""
    shown = "../scrapy_robotspec/cli/schemas/report.json"
    assert f"```{{literalinclude}} {shown}\n" in (ROOT / "docs/json.md").read_text("utf-8")
    schema = json.loads((ROOT / "docs" / shown).read_text("utf-8"))
    (line,) = report_lines([OriginStats("http://a.example")])
    assert list(schema["properties"]) == list(json.loads(line))


def test_the_page_names_every_command_and_option() -> None:
    """No command and no option of any of them is missing from the reference page."""
    text = PAGES[1].read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"### {name}\n" in text
        command = robotspec.get_command(click.Context(robotspec), name)
        assert command is not None
        for parameter in command.params:
            options = [one for one in parameter.opts if one.startswith("--")]
            assert {*options} <= {*UNSPOKEN, *re.findall(r"--[a-z-]+", text)}, options


#: Explained in --help alone.
UNSPOKEN = ("--all", "--disallowed")
