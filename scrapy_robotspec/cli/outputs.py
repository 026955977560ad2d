"""What a command leaves behind besides its answer: the page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.inputs import MisuseError

if TYPE_CHECKING:
    from scrapy_robotspec.show.terminal import Screen


def write_page(name: str, text: str, screen: Screen) -> None:
    """Write a page to the file of that name."""
    try:
        Path(name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise MisuseError(f"cannot write {name}: {error.strerror}") from error
    screen.note(f"page written: {name}")
