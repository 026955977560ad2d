"""The HTML pages in Chromium: axe finds nothing, and nothing is wider than the screen.

Needs Chromium (``chromium`` on the PATH or in ``CHROMIUM``) and axe-core (``npm install axe-core``
in the project, or the path of ``axe.min.js`` in ``AXE_CORE``).
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import run
from tests.support.command_line import HOSTILE, HOSTILE_URL, SHOP, main
from tests.support.crawl_reports import HOSTILE_TEXT, one_site, origins_of, page_of

ROOT = Path(run.__file__).parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules/axe-core/axe.min.js"))

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed"),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed"),
]

LONG = "User-agent: *\nDisallow: /" + "verylongpathsegment" * 30 + "/\nDisalow: /" + "x" * 300
LONG_NAME = "User-agent: *\nUser-agent: evil bot, " + "a" * 300 + "\nDisallow: /x\n"

COMMANDS = {
    "one answer": ["explain", "robots.txt", "/cart/help", "--token", "examplebot"],
    "several answers": ["explain", "robots.txt", "/cart/help", "/x", "--each-token"],
    "many answers": ["check", "robots.txt", "--urls", "many.txt"],
    "a long path": ["explain", "long.txt", "/" + "verylongpathsegment" * 30 + "/x"],
    "a long name": ["explain", "name.txt", "/x", "/y", "--each-token"],
    "what a file contains": ["show", "robots.txt"],
    "a hostile file": ["explain", "hostile.txt", HOSTILE_URL, "--each-token"],
}

#: Runs axe in a page and sends the result to the frame around it.
INSIDE = """<script>{axe}</script><script>
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
axe.run(document, {{runOnly: tags}}).then(found => parent.postMessage({{
  violations: found.violations.map(one => [one.id, one.nodes[0].html.slice(0, 200)]),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  width: innerWidth,
  needed: document.documentElement.scrollWidth,
}}, "*"));
</script>"""
#: A frame's colour scheme is what its page prefers.
FRAME = '<iframe src="{page}" width="{width}" height="900" style="color-scheme: {scheme}"></iframe>'
#: Shows the results as text, in the order of the frames.
OUTSIDE = """<!doctype html><title>frames</title><body>{frames}
<script>
const frames = [...document.querySelectorAll("iframe")].map(frame => frame.contentWindow);
const results = new Map();
addEventListener("message", event => {{
  results.set(event.source, event.data);
  if (results.size < frames.length) return;
  const text = JSON.stringify(frames.map(frame => results.get(frame)));
  document.body.innerHTML = "";
  document.body.append("RESULT" + text + "END");
}});</script>"""


@dataclass(frozen=True)
class View:
    """A page as somebody sees it."""

    text: str
    width: int
    dark: bool


def in_browser(views: Sequence[View], folder: Path) -> list[dict[str, Any]]:
    """What axe finds in each view; one browser opens all of them."""
    script = INSIDE.format(axe=AXE.read_text(encoding="utf-8"))
    frames = []
    for number, view in enumerate(views):
        page = folder / f"inside-{number}.html"
        policy = r'<meta http-equiv="Content-Security-Policy"[^>]*>'
        text = re.sub(policy, "", view.text)  # for our script
        page.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
        scheme = "dark" if view.dark else "light"
        frames.append(FRAME.format(page=page.name, width=view.width, scheme=scheme))
    outside = folder / "outside.html"
    outside.write_text(OUTSIDE.format(frames="".join(frames)))
    options = ["--headless", "--no-sandbox", "--window-size=1500,1000"]
    options += ["--virtual-time-budget=60000", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *options, outside.as_uri()],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    result = re.search("RESULT(.*?)END", done.stdout, re.DOTALL)
    assert result, done.stdout[:2000]
    found: list[dict[str, Any]] = json.loads(html.unescape(result[1]))
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_axe_finds_nothing_in_light_and_dark_on_a_phone_and_a_desktop(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page at 390 and 1,280 pixels; nothing makes a reader scroll sideways."""
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(SHOP)
    Path("long.txt").write_text(LONG)
    Path("name.txt").write_text(LONG_NAME)
    Path("hostile.txt").write_bytes(HOSTILE)
    Path("many.txt").write_text("".join(f"/cart/{number}\n" for number in range(60)))
    assert main([*command, "--html", "page.html"]) in (0, 1)
    page = Path("page.html").read_text(encoding="utf-8")
    opened = page.replace("<details>", "<details open>")
    views = [View(page, 390, False), View(opened, 390, True)]
    views += [View(opened, 1280, False), View(page, 1280, True)]
    assert_axe_finds_nothing(views, tmp_path)


REPORTS = {
    "one site": lambda: page_of([one_site()]),
    "three sites, still running": lambda: page_of(
        [replace(site, waiting=4) for site in origins_of(3)], finished=None
    ),
    "forty sites, a dry run": lambda: page_of(
        origins_of(40), differences={"same": 3, "we would wait": 1}
    ),
    "ten thousand sites": lambda: page_of(origins_of(10_000), is_cut=True),
    "hostile sites": lambda: page_of(origins_of(40, HOSTILE_TEXT + "x" * 300)),
    "no request": lambda: page_of([]),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_axe_finds_nothing_in_reports(report: Callable[[], str], tmp_path: Path) -> None:
    """On a phone, a tablet and a desktop, with every row closed and open."""
    page = report()
    opened = page.replace("<details>", "<details open>")
    views = [View(page, 390, True), View(opened, 768, False), View(page, 1280, False)]
    assert_axe_finds_nothing(views, tmp_path)


def test_axe_finds_nothing_in_the_page_of_an_access_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crawlers of every kind, long names and URLs, and rules that they broke."""
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(SHOP)
    line = '192.0.2.7 - - [31/Jan/2026:12:00:00 +0000] "GET %s HTTP/1.1" 200 51 "-" "%s/1.0"\n'
    names = ("examplebot", "a-very-long-name" * 9, "Mozilla", "AdsBot-Google", "bot<script>")
    urls = ("/robots.txt", "/cart/1", f"/cart/{'long' * 99}", f"/{HOSTILE_TEXT}")
    lines = (line % (url, name) for url in urls for name in names)
    Path("access.log").write_text("".join(lines).replace(chr(10) * 2, ""), errors="replace")
    assert main(["audit", "access.log", "--robots", "robots.txt", "--html", "page.html"]) == 1
    page = Path("page.html").read_text(encoding="utf-8")
    views = [View(page, width, dark) for width in (390, 1280) for dark in (False, True)]
    assert_axe_finds_nothing(views, tmp_path)


def assert_axe_finds_nothing(views: Sequence[View], folder: Path) -> None:
    """Nor does anything make a reader scroll sideways."""
    for view, found in zip(views, in_browser(views, folder), strict=True):
        assert found["violations"] == []
        assert found["needed"] <= found["width"] == view.width
        assert found["dark"] is view.dark
