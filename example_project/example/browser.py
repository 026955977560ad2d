"""Finds what the browser spider needs, or says what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

#: Names of a browser that the system has installed.
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
#: Prints where playwright keeps its own Chromium.
_OWN_BROWSER = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def missing() -> str | None:
    """What has to be installed for a crawl through Chromium; None: nothing."""
    if find_spec("scrapy_playwright") is None:
        return "it needs scrapy-playwright: pip install scrapy-playwright"
    if chromium() is None and not _has_own_browser():
        return "it needs Chromium: playwright install chromium"
    return None


def chromium() -> str | None:
    """The Chromium of the system, or the one in ``CHROMIUM``; None: playwright's own is used."""
    found = (shutil.which(name) for name in _PROGRAMS)
    return os.environ.get("CHROMIUM") or next(filter(None, found), None)


def launch_options() -> dict[str, str]:
    """``PLAYWRIGHT_LAUNCH_OPTIONS`` for the Chromium of the system, if there is one."""
    path = chromium()
    return {} if path is None else {"executable_path": path}


def _has_own_browser() -> bool:
    # In a process of its own: playwright would start an event loop before Scrapy does.
    command = [sys.executable, "-c", _OWN_BROWSER]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and Path(done.stdout.strip()).exists()
