"""Crawls that a script starts in its own event loop."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from scrapy import version_info

from tests.support.crawl_starter import ROOT
from tests.support.server import Server

pytestmark = pytest.mark.skipif(version_info < (2, 15), reason="this Scrapy needs a reactor")


def run_script(folder: Path, cache: str, urls: list[str]) -> dict[str, int]:
    """Run three crawls of *urls*, two of them at once; how requests ended."""
    command = [sys.executable, "-m", "tests.crawl.runner_script", cache, *urls]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    script = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180
    )
    assert "Traceback" not in script.stderr
    ends: dict[str, int] = json.loads(script.stdout)
    return ends


@pytest.mark.parametrize(("cache", "asked"), [("memory://", 3), ("sqlite:///robots.db", 1)])
def test_a_script_without_a_reactor_crawls(
    server: Server, tmp_path: Path, cache: str, asked: int
) -> None:
    """Scrapy forbids the import of a reactor only where it starts the loop itself.

    Crawls of one process share files by a store alone.
    """
    sites = [server.site(f"127.0.0.{n}", "User-agent: *\nDisallow: /no\n") for n in (2, 3)]
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    assert run_script(tmp_path, cache, urls) == {"response": 6, "ForbiddenByRobots": 6}
    assert [site.pages_asked for site in sites] == [["/yes"] * 3] * 2
    assert [len(site.robots_asked) for site in sites] == [asked, asked]


def test_crawls_in_one_loop_keep_one_delay(server: Server, tmp_path: Path) -> None:
    """With a store; each crawl of ``memory://`` keeps the delay alone."""
    shortest = {}
    for number, cache in enumerate(("memory://", "sqlite:///robots.db"), 2):
        site = server.site(f"127.0.0.{number}", "User-agent: *\nCrawl-delay: 0.6\n")
        urls = [site.url(path) for path in ("/a", "/b")]
        assert run_script(tmp_path, cache, urls) == {"response": 6}
        times = sorted(page.at for page in site.log if page.path != "/robots.txt")
        shortest[cache] = min(after - before for before, after in pairwise(times))
    assert shortest["sqlite:///robots.db"] > 0.5
    assert shortest["memory://"] < 0.5
