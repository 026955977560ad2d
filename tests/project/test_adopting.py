"""Promises of docs/differences.md to projects that adopt the plugin or leave it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import run
from tests.support.crawl_starter import ForkedProcess

ROOT = Path(run.__file__).parent
PROJECT = ROOT / "example_project"
#: Other tests that run the same site do not listen here, so a site that has ended stays away.
FIRST_PORT = 20_000 + os.getpid() % 200 * 50
OURS: dict[str, Any] = {"ADDONS": {"scrapy_robotspec.Addon": 500}, "ROBOTSPEC_HOLD_TIMEOUT": 0}


def crawl(settings: dict[str, Any], urls: list[str]) -> list[bool]:
    """A crawl in a process of its own: for each URL whether it was crawled."""
    settings = {"ROBOTSTXT_OBEY": True, "ROBOTSPEC_RETRY_TIMES": 0, **settings}
    task = {"settings": settings, "first": urls[:1], "then": urls[1:], "domains": []}
    words = ["example.crawl", json.dumps(task)]
    with TemporaryFile() as out, TemporaryFile() as log:
        assert ForkedProcess(words, PROJECT, {}, out, log).wait() == 0
        out.seek(0)
        ends = json.load(out)
    return [ends[url]["crawled"] for url in urls]


class Site:
    """The local site of the example, for the time of a ``with`` block; the origin of a case."""

    def __init__(self, case: str) -> None:
        self.case = case

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "example.site", "example.responses:ALL_RESPONSES"]
        command += ["--first-port", str(FIRST_PORT)]
        self.process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        origin: str = json.loads(self.process.stdout.readline())[self.case]
        return origin

    def __exit__(self, *exception: object) -> None:
        with self.process:
            self.process.terminate()


def test_a_crawl_is_replayed_offline_with_both_caches(tmp_path: Path) -> None:
    """Pages from Scrapy's HTTP cache, robots.txt from a file: the second crawl needs no site."""
    cached = {
        **OURS,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": str(tmp_path / "pages"),
        "ROBOTSPEC_CACHE": f"sqlite:///{tmp_path / 'robots.db'}",
    }
    with Site("plain") as origin:
        urls = [f"{origin}/open.html", f"{origin}/private/a.html"]
        assert crawl(cached, urls) == [True, False]
    assert crawl(cached, urls) == [True, False]


def test_offline_without_a_robots_txt_nothing_is_permitted(tmp_path: Path) -> None:
    """FET-14: what is in no cache is unreachable, never permission; pages in the cache or not."""
    pages = {**OURS, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Site("plain") as origin:
        urls = [f"{origin}/open.html"]
        assert crawl(pages, urls) == [True]
    assert crawl(pages, urls) == [False]
    assert crawl({**pages, "HTTPCACHE_IGNORE_MISSING": True}, urls) == [False]
    assert crawl({**pages, "ROBOTSTXT_OBEY": False}, urls) == [True]


def test_without_the_add_on_everything_is_as_before() -> None:
    """Uninstalled by one line: Scrapy's own middleware decides again, our settings are ignored."""
    with Site("missing") as origin:
        urls = [f"{origin}/open.html"]
        assert crawl(OURS, urls) == [True]
        assert crawl({"ROBOTSPEC_CACHE": "nowhere://", "ADDONS": {}}, urls) == [False]
