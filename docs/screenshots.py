"""Makes the pictures of pages and of logs in ``docs/images``: ``python docs/screenshots.py``.

Needs Chromium, as ``chromium`` on the PATH or in the variable ``CHROMIUM``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from html import escape
from pathlib import Path

from tutorial import Tutorial

from scrapy_robotspec.cli.app import main

DOCS = Path(__file__).resolve().parent
FILE = re.compile(r"^`([\w.]+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Picture -> the command whose page it shows, width and height (pixels).
PICTURES = {
    "page-explain": ("explain robots.txt /cart/help --token examplebot", 1100, 900),
}

#: Columns of the pictures of logs.
COLUMNS = 96
#: Lines of a log that such a picture leaves out: Scrapy's own, which are no part of the story.
LEFT_OUT = re.compile(r"\[scrapy\.(extensions|core\.scraper)|^\{")
#: Colour of a line, and those of lines that a reader looks for.
PLAIN = "#9aa4b2"
COLOURS = [
    (re.compile("Forbidden|unreachable|given up|refused"), "#ff9d8f"),
    (re.compile("scrapy_robotspec|^[a-z]"), "#8fd6a4"),
]


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
    take(page, 1000, 780)


def take_tutorial(folder: Path) -> None:
    """Make the pictures of the tutorial, from a run of its commands."""
    tutorial = Tutorial(folder)
    tutorial.run()
    crawls = [text for command, text in tutorial.outputs if command == "scrapy crawl shop"]
    for name, log in zip(("tutorial-crawl", "tutorial-down"), crawls, strict=True):
        draw(DOCS / "images" / f"{name}.svg", "scrapy crawl shop", excerpt(log))
    page = folder / "tutorial-report.html"
    page.write_text(tutorial.report(), encoding="utf-8")
    take(page, 1000, 540)


def excerpt(log: str) -> list[str]:
    """The lines of a crawl's log that a reader looks for."""
    lines = log.partition("Spider opened\n")[2].splitlines()
    end = next(at for at, line in enumerate(lines) if "Dumping Scrapy stats" in line)
    kept = [line for line in lines[:end] if not LEFT_OUT.search(line)]
    return [re.sub(r"^\d{4}-\d\d-\d\d ", "", line) for line in kept]


def draw(path: Path, command: str, lines: list[str]) -> None:
    """Draw a terminal in which *command* has printed *lines*, which are folded."""
    fold = textwrap.TextWrapper(COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
    rows = [("#ffffff", f"$ {command}"), (PLAIN, "…")]
    for line in lines:
        colour = next((colour for pattern, colour in COLOURS if pattern.search(line)), PLAIN)
        parts = fold.wrap(line) if len(line) > COLUMNS else [line]
        rows += [(colour, part) for part in parts]
    texts = "".join(
        f'<text x="16" y="{28 + at * 19}" fill="{colour}" xml:space="preserve">'
        f"{escape(row)}</text>\n"
        for at, (colour, row) in enumerate(rows)
    )
    width, height = 32 + COLUMNS * 8, 28 + len(rows) * 19
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' font-family="Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#16191f"/>\n{texts}</svg>\n',
        encoding="utf-8",
    )


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
    with tempfile.TemporaryDirectory() as folder:
        take_tutorial(Path(folder))


if __name__ == "__main__":
    take_all()
