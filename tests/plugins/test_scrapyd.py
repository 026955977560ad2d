"""scrapyd: a scheduled job of a deployed project obeys robots.txt."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.plugins.sites import RULES, need
from tests.support.redis_server import free_port
from tests.support.server import Server

need("scrapyd", "scrapyd")

SETTINGS = """\
BOT_NAME = "project"
SPIDER_MODULES = ["project.spiders"]
ROBOTSTXT_OBEY = True
ADDONS = {"scrapy_robotspec.Addon": 500}
USER_AGENT = "examplebot/1.0"
"""
SPIDER = """\
import scrapy

class Spider(scrapy.Spider):
    name = "spider"

    async def start(self):
        for path in ("/yes", "/no"):
            yield scrapy.Request(self.site + path)

    def parse(self, response):
        pass
"""
FILES = {
    "project/__init__.py": "",
    "project/settings.py": SETTINGS,
    "project/spiders/__init__.py": SPIDER,
    "EGG-INFO/PKG-INFO": "Metadata-Version: 1.0\nName: project\nVersion: 1\n",
    "EGG-INFO/entry_points.txt": "[scrapy]\nsettings = project.settings\n",
}


def deploy(folder: Path) -> None:
    """Write the egg where scrapyd keeps it."""
    path = folder / "eggs" / "project" / "1.egg"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as egg:
        for name, text in FILES.items():
            egg.writestr(name, text)


def is_up(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_until(met: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not met():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def call(url: str, **arguments: str) -> dict[str, Any]:
    """The reply of scrapyd; with arguments it is a POST."""
    data = urllib.parse.urlencode(arguments).encode() if arguments else None
    with urllib.request.urlopen(url, data, timeout=20) as response:
        reply: dict[str, Any] = json.load(response)
        return reply


def test_a_scheduled_job_obeys_robots_txt(server: Server, tmp_path: Path) -> None:
    site = server.site("127.0.0.2", RULES)
    deploy(tmp_path)
    port = free_port()
    (tmp_path / "scrapyd.conf").write_text(
        f"[scrapyd]\nhttp_port = {port}\npoll_interval = 0.2\nlogs_dir = {tmp_path / 'logs'}\n"
    )
    daemon = subprocess.Popen([sys.executable, "-m", "scrapyd"], cwd=tmp_path)
    base = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_up(port), "scrapyd does not answer")
        argument = {"project": "project", "spider": "spider", "site": site.url("")}
        scheduled = call(f"{base}/schedule.json", **argument)
        assert scheduled["status"] == "ok", scheduled
        jobs = f"{base}/listjobs.json?project=project"
        wait_until(lambda: call(jobs)["finished"], "the job has not ended")
    finally:
        daemon.terminate()
        daemon.wait()
    log = (tmp_path / "logs/project/spider" / f"{scheduled['jobid']}.log").read_text()
    assert site.pages_asked == ["/yes"], log
    assert len(site.robots_asked) == 1
    assert "1 let through, 1 refused" in log
