"""Crawls that a script starts in its own event loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy import version_info

from tests.support.crawl_starter import ROOT
from tests.support.server import Server


@pytest.mark.skipif(version_info < (2, 15), reason="this Scrapy needs a reactor")
@pytest.mark.parametrize("cache", ["memory://", "sqlite:///robots.db"])
def test_a_script_without_a_reactor_crawls(server: Server, tmp_path: Path, cache: str) -> None:
    """Scrapy forbids the import of a reactor only where it starts the loop itself."""
    sites = [server.site(f"127.0.0.{n}", "User-agent: *\nDisallow: /no\n") for n in (2, 3)]
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    command = [sys.executable, "-m", "tests.crawl.runner_script", cache, *urls]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    script = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert json.loads(script.stdout) == {"response": 6, "ForbiddenByRobots": 6}
    assert [site.pages_asked for site in sites] == [["/yes"] * 3] * 2
    assert "Traceback" not in script.stderr
