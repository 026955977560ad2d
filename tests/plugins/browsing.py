"""Crawls in a real Chromium, and what their tests share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from tests.plugins import browser_site
from tests.support.crawl import Result, crawl
from tests.support.responses import reply

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
LAUNCH = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
SPIDERS = "tests.plugins.browser_spiders"
SETTINGS = {
    "DOWNLOAD_HANDLERS": {"http": HANDLER},
    "PLAYWRIGHT_LAUNCH_OPTIONS": LAUNCH,
    "SPIDER_MODULES": [SPIDERS],
}
ALL = {"ROBOTSPEC_BROWSER": "all"}
#: Without checks one page waits for an attachment until the timeout.
OFF = {"ROBOTSPEC_BROWSER": "off", "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 10_000}
#: A page waits for a robots.txt for 2.4 s, and the crawl not much longer.
IMPATIENT = {"PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 3000, "ROBOTSPEC_FETCH_TIMEOUT": 4}
WITHOUT_DEVTOOLS = {"SPIDER_MODULES": ["tests.plugins.browser_without_devtools"]}
NAVIGATIONS = {*browser_site.NAVIGATIONS, "redirect"}
RESOURCES = {*browser_site.RESOURCES}
SERVICE_WORKERS = {*browser_site.SERVICE_WORKERS}
NO = "User-agent: *\nDisallow: /no\n"


def browse(requests: list[Any], settings: dict[str, Any] | None = None, **kwargs: Any) -> Result:
    """Crawl *requests* in Chromium."""
    kwargs.setdefault("spider", "browsing")
    return crawl(requests, {**SETTINGS, **(settings or {})}, **kwargs)


def visit(url: str, *methods: list[Any], **meta: Any) -> dict[str, Any]:
    """A request whose page *methods* are called on, without a pause."""
    return {"url": url, "meta": {"methods": list(methods), **meta}}


def html(text: str) -> Any:
    """A page."""
    return reply(text, headers=[("Content-Type", "text/html")])


def browser_of(pid: int) -> int:
    """The process of the browser that a crawl has started (Linux)."""
    processes, found = [pid], []
    while processes:
        parent = processes.pop()
        for task in Path(f"/proc/{parent}/task").iterdir():
            children = [int(child) for child in (task / "children").read_text().split()]
            processes.extend(children)
            found.extend(children)
    (browser,) = [
        process
        for process in found
        if b"--remote-debugging-pipe" in (line := Path(f"/proc/{process}/cmdline").read_bytes())
        and b"--type=" not in line
    ]
    return browser
