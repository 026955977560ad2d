"""The HTML page of the changes between two versions of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.listing import Notes, listing
from scrapy_robotspec.render.wording import crawler_words

if TYPE_CHECKING:
    from scrapy_robotspec.render.changes import FileChanges
    from scrapy_robotspec.render.parsed_file import ParsedFile

_MOST_NAMES = 12


def diff_page(
    names: tuple[str, str],
    files: tuple[ParsedFile, ParsedFile],
    found: FileChanges,
    *,
    now: float,
) -> str:
    """The changes, then both files with marked lines."""
    old, new = Notes(), Notes()
    old.styles.update(dict.fromkeys(found.removed_lines, "removed"))
    new.styles.update(dict.fromkeys(found.added_lines, "added"))
    written = {**files[0].written, **files[1].written}
    headings = [
        [crawler_words(tokens, written) for tokens in change.crawlers[:_MOST_NAMES]]
        + ([f"{len(change.crawlers) - _MOST_NAMES:,} more"] * (len(change.crawlers) > _MOST_NAMES))
        for change in found.changes
    ]
    return render(
        "diff.html",
        now=now,
        names=names,
        files=files,
        found=found,
        headings=headings,
        old=listing(files[0], old),
        new=listing(files[1], new),
    )
