"""docs/how-to.md: each way to list refused requests names those of a real crawl."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import scrapy_robotspec
from tests.support.responses import reply
from tests.support.server import Server

ROOT = Path(scrapy_robotspec.__file__).parents[1]
PAGE = (ROOT / "docs/how-to.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## List every refused request")[2].partition("\n## ")[0]
SETTINGS = "\n".join(re.findall(r"`([A-Z_]+ = .+?)`", SECTION))
(EXTENSION,) = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
COUNTING, LISTING = re.findall(r"^```sh\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
SPIDER = """\
import scrapy


class Shop(scrapy.Spider):
    name = "shop"

    def parse(self, response):
        return None
"""
PROJECT = """\
ROBOTSTXT_OBEY = True
ADDONS = {"scrapy_robotspec.Addon": 500}
ROBOTSPEC_USER_AGENT_TOKEN = "examplebot"
ROBOTSPEC_HOLD_TIMEOUT = 0
SPIDER_MODULES = ["myproject.shop"]
"""


def crawl(folder: Path, urls: list[str]) -> None:
    """Crawl with a project that has the settings and the extension of the page."""
    package = folder / "myproject"
    package.mkdir()
    spider = SPIDER.replace("\n\n    def", f"\n    start_urls = {urls}\n\n    def")
    files = {
        "settings": PROJECT + SETTINGS,
        "refused": EXTENSION,
        "shop": spider,
        "__init__": "",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = myproject.settings\n")
    command = [sys.executable, "-m", "scrapy", "crawl", "shop"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "no_proxy": "*"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def rows(command: str, folder: Path) -> list[list[str]]:
    """The cells of the lines that a command of the page prints."""
    printed = subprocess.check_output(["bash", "-c", command], cwd=folder, text=True)
    return [line.split("\t") for line in printed.splitlines()]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_each_way_names_the_refused_requests(tmp_path: Path) -> None:
    """Signal and evidence name each of them with its reason, the report counts them."""
    with Server() as server:
        shop = server.site("127.0.0.2", "User-agent: *\nDisallow: /cart/\n")
        down = server.site("127.0.0.3", reply("", status=503))
        refused = [shop.url("/cart/1"), shop.url("/cart/2"), down.url("/")]
        crawl(tmp_path, [shop.url("/"), *refused])
    signalled = [json.loads(line) for line in (tmp_path / "refused.jsonl").read_text().splitlines()]
    rule, failure = "Disallow: /cart/", "unreachable"
    assert sorted(row["url"] for row in signalled) == sorted(refused)
    assert {row["spider"] for row in signalled} == {"shop"}
    assert Counter(failure in row["reason"] for row in signalled) == {False: 2, True: 1}
    assert sorted(row[:2] for row in rows(LISTING, tmp_path)) == sorted(
        [[shop.url("/cart/1"), "rule"], [shop.url("/cart/2"), "rule"], [down.url("/"), failure]]
    )
    assert sorted(rows(COUNTING, tmp_path)) == [
        ["1", down.url("/")[:-1], failure],
        ["2", shop.url("/")[:-1], rule],
    ]
