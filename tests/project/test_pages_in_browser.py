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
from pathlib import Path
from typing import Any

import pytest

import run
from scrapy_robotspec.cli.app import main
from tests.support.command_line import HOSTILE, HOSTILE_URL, SHOP
from tests.support.crawl_reports import HOSTILE_TEXT, one_site, origins_of, page_of

ROOT = Path(run.__file__).parent
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
AXE = Path(os.environ.get("AXE_CORE", ROOT / "node_modules/axe-core/axe.min.js"))

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed"),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed"),
]

LONG = "User-agent: *\nDisallow: /" + "verylongpathsegment" * 30 + "/\nDisalow: /" + "x" * 300

COMMANDS = {
    "one answer": ["explain", "robots.txt", "/cart/help", "--token", "examplebot"],
    "several answers": ["explain", "robots.txt", "/cart/help", "/x", "--each-token"],
    "many answers": ["check", "robots.txt", "--urls", "many.txt"],
    "a long path": ["explain", "long.txt", "/" + "verylongpathsegment" * 30 + "/x"],
    "what a file contains": ["show", "robots.txt"],
    "a hostile file": ["explain", "hostile.txt", HOSTILE_URL, "--each-token"],
}

#: Runs axe in the page and sends the result to the frame around it, which shows it as text.
INSIDE = """<script>{axe}</script><script>
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
axe.run(document, {{runOnly: tags}}).then(found => parent.postMessage(JSON.stringify({{
  violations: found.violations.map(one => [one.id, one.nodes[0].html.slice(0, 200)]),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  width: innerWidth,
  needed: document.documentElement.scrollWidth,
}}), "*"));
</script>"""
OUTSIDE = """<!doctype html><title>frame</title><body>
<iframe src="{page}" width="{width}" height="900"></iframe>
<script>addEventListener("message", event => {{
  document.body.innerHTML = "";
  document.body.append("RESULT" + event.data + "END");
}});</script>"""


def in_browser(page: Path, width: int, dark: bool) -> dict[str, Any]:
    """The violations that axe finds in a page."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)  # for our script
    script = INSIDE.format(axe=AXE.read_text(encoding="utf-8"))
    page.with_name("inside.html").write_text(text.replace("</body>", f"{script}</body>"))
    outside = page.with_name("outside.html")
    outside.write_text(OUTSIDE.format(page="inside.html", width=width))
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--window-size=1500,1000",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--virtual-time-budget=60000",
            "--dump-dom",
            outside.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    result = re.search("RESULT(.*?)END", done.stdout, re.DOTALL)
    assert result, done.stdout[:2000]
    found: dict[str, Any] = json.loads(html.unescape(result[1]))
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_axe_finds_nothing_in_light_and_dark_on_a_phone_and_a_desktop(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page at 390 and 1,280 pixels; nothing makes a reader scroll sideways."""
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(SHOP)
    Path("long.txt").write_text(LONG)
    Path("hostile.txt").write_bytes(HOSTILE)
    Path("many.txt").write_text("".join(f"/cart/{number}\n" for number in range(60)))
    assert main([*command, "--html", "page.html"]) in (0, 1)
    for width in (390, 1280):
        for dark in (False, True):
            assert_axe_finds_nothing(Path("page.html").resolve(), width, dark)


REPORTS = {
    "one site": page_of([one_site()]),
    "three sites, still running": page_of(origins_of(3), finished=None, waiting=12),
    "forty sites, a dry run": page_of(origins_of(40), differences={"same": 3, "we would wait": 1}),
    "ten thousand sites": page_of(origins_of(10_000), is_cut=True),
    "hostile sites": page_of(origins_of(40, HOSTILE_TEXT + "x" * 300)),
    "no request": page_of([]),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_axe_finds_nothing_in_reports(report: str, tmp_path: Path) -> None:
    """On a phone, a tablet and a desktop, with every row closed and open."""
    page = tmp_path / "page.html"
    opened = report.replace("<details>", "<details open>")
    for width, dark, text in ((390, True, report), (768, False, opened), (1280, False, report)):
        page.write_text(text, encoding="utf-8")
        assert_axe_finds_nothing(page, width, dark)


def assert_axe_finds_nothing(page: Path, width: int, dark: bool) -> None:
    """Nor does anything make a reader scroll sideways."""
    found = in_browser(page, width, dark)
    assert found["violations"] == []
    assert found["needed"] <= found["width"] == width
    assert found["dark"] is dark
