"""Makes the pictures of HTML pages in ``docs/images``: ``python docs/screenshots.py``.

Needs Chromium, as ``chromium`` on the PATH or in the variable ``CHROMIUM``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scrapy_robotspec.cli.app import main

DOCS = Path(__file__).resolve().parent
FILE = re.compile(r"^`([\w.]+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Picture -> the command whose page it shows, width and height (pixels).
PICTURES = {
    "page-explain": ("explain robots.txt /cart/help --token examplebot", 1100, 1450),
}


def files() -> dict[str, str]:
    """The example files of the pages."""
    pages = [DOCS / "why.md", DOCS / "command-line.md"]
    return {match[1]: match[2] for page in pages for match in FILE.finditer(page.read_text())}


def take_page(name: str, command: str, width: int, height: int, folder: Path) -> None:
    """Make the picture of a command's page."""
    page = folder / f"{name}.html"
    os.chdir(folder)
    main([*command.split(), "--html", str(page)])
    take(page, width, height)


def take_report(folder: Path) -> None:
    """Make the picture of a crawl's report: an example spider, some of whose pages wait."""
    page = folder / "page-report.html"
    settings = [f"ROBOTSPEC_REPORT={page}", f"EXAMPLE_RESULTS={folder / 'results.jsonl'}"]
    options = [word for setting in settings for word in ("-s", setting)]
    command = [sys.executable, "-m", "scrapy", "crawl", "robots_05_waiting", *options]
    subprocess.run(command, cwd=DOCS.parent / "example_project", check=True)
    take(page, 1000, 1500)


def take(page: Path, width: int, height: int) -> None:
    """Make the picture of a page; both have the same name."""
    subprocess.run(
        [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
            f"--screenshot={DOCS / 'images' / page.stem}.png",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
    )


def take_all() -> None:
    """Make every picture."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files().items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for name, (command, width, height) in PICTURES.items():
            take_page(name, command, width, height, Path(folder))
        take_report(Path(folder))


if __name__ == "__main__":
    take_all()
