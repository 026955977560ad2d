"""APP: what robots.txt is not, and what this package therefore leaves alone."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if page.exists()
]
SOURCES = sorted((ROOT / "scrapy_robotspec").rglob("*.py"))

#: Words that would sell robots.txt as a lock. Where one stands, the sentence has to deny it.
LOCK = re.compile(r"access control|protect\w*|secret|confidential|keeps? (?:\w+ )?out", re.I)
DENIAL = re.compile(r"\b(?:no|not|nor|never|nothing|nobody|neither|cannot)\b", re.I)
ABOUT_THE_FILE = re.compile(r"robots\.txt", re.I)


def sentences() -> list[str]:
    """Every sentence of the pages, tables included."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    return re.split(r"(?<=[.:])\s+|\n\n|\|", text)


def test_no_page_presents_the_file_as_a_lock() -> None:
    """APP-02: whenever robots.txt and keeping out meet in a sentence, it says that it does not."""
    about = [text for text in sentences() if ABOUT_THE_FILE.search(text) and LOCK.search(text)]
    assert about, "this page's own statement at least"
    assert [text for text in about if not DENIAL.search(text)] == []


def test_other_mechanisms_are_not_read() -> None:
    """APP-03: no code looks for a meta robots tag or an X-Robots-Tag header."""
    assert SOURCES
    for source in SOURCES:
        assert not re.search(
            r"x-robots-tag|meta robots|noarchive|(?<!O_)nofollow", source.read_text("utf-8"), re.I
        )
