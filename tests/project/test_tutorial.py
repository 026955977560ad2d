"""docs/tutorial.md: its commands are run, and print what the page and its pictures show."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

import run

DOCS = Path(run.__file__).parent / "docs"
sys.path.insert(0, str(DOCS))

from tutorial import PAGE, Tutorial  # noqa: E402 - needs the path above

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tutorial:
    """The tutorial, run once."""
    tutorial = Tutorial(tmp_path_factory.mktemp("tutorial"))
    tutorial.run()
    return tutorial


def steady(text: str) -> str:
    """Text on one line, without what differs from run to run."""
    text = re.sub(r"\d{4}-\d\d-\d\d[ T]|\d\d[:-]\d\d[:-]\d\d(\+00-00)?|\d+\.\d+ s", "…", text)
    return " ".join(text.split())


def test_output_of_each_command_is_that_of_the_page(done: Tutorial) -> None:
    """The answers that the page shows as text."""
    outputs = dict(done.outputs)
    sessions = re.findall(r"^```shell-session\n\$ (.+)\n((?:.*\n)*?)```$", TEXT, re.M)
    assert sessions
    assert {command: outputs[command] for command, _ in sessions} == dict(sessions)


@pytest.mark.parametrize(("picture", "crawl"), [("tutorial-crawl", 0), ("tutorial-down", 1)])
def test_pictures_show_the_log_of_the_crawl(done: Tutorial, picture: str, crawl: int) -> None:
    """Each line of a picture is one of the log; after a change: ``python docs/screenshots.py``."""
    log = [text for command, text in done.outputs if command == "scrapy crawl shop"][crawl]
    drawing = (DOCS / "images" / f"{picture}.svg").read_text(encoding="utf-8")
    rows = [html.unescape(row) for row in re.findall("<text [^>]*>(.*)</text>", drawing)]
    lines = [steady(line) for line in re.sub(r"\n    ", " ", "\n".join(rows[2:])).split("\n")]
    assert len(lines) > 5
    assert [line for line in lines if line not in steady(log)] == []


def test_the_crawl_refuses_the_page_that_the_tutorial_says(done: Tutorial) -> None:
    """Three pages are crawled, one is refused, and the report says the same."""
    log = next(text for command, text in done.outputs if command == "scrapy crawl shop")
    crawled = re.findall(r"Crawled \(200\) <GET http://localhost:8000(\S+)>", log)
    assert crawled == ["/robots.txt", "/", "/news/", "/news/today.html"]
    assert "3 of 4 requests went out, 1 refused" in done.report()
