"""Makes the pictures of HTML pages in ``docs/images``: ``python docs/screenshots.py``.

Needs Chromium, as ``chromium`` on the PATH or in the variable ``CHROMIUM``.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from scrapy_robotspec.cli.app import main

DOCS = Path(__file__).resolve().parent
FILE = re.compile(r"^`([\w.]+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Picture -> the command whose page it shows, width and height (pixels).
PICTURES = {
    "page-explain": ("explain robots.txt /cart/help --token examplebot", 1100, 1450),
    "page-diff": ("diff old.txt new.txt --urls urls.txt", 1100, 1000),
}


def files() -> dict[str, str]:
    """The example files of the pages."""
    pages = [DOCS / "why.md", DOCS / "command-line.md"]
    return {match[1]: match[2] for page in pages for match in FILE.finditer(page.read_text())}


def take(name: str, command: str, width: int, height: int, folder: Path) -> None:
    """Make one picture."""
    page = folder / f"{name}.html"
    os.chdir(folder)
    main([*command.split(), "--html", str(page)])
    subprocess.run(
        [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
            f"--screenshot={DOCS / 'images' / name}.png",
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
            take(name, command, width, height, Path(folder))


if __name__ == "__main__":
    take_all()
