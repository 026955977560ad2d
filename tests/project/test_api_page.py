"""docs/api.md has every public name, and the pages of docs/ are all in the table of contents."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import scrapy_robotspec

DOCS = Path(__file__).parents[2] / "docs"


def test_every_public_name_is_documented() -> None:
    page = (DOCS / "api.md").read_text("utf-8")
    named = set(re.findall(r"^\.\. auto\w+:: scrapy_robotspec\.(\w+)$", page, re.MULTILINE))
    assert named == set(scrapy_robotspec.__all__)


def test_every_page_is_in_the_table_of_contents() -> None:
    """Sphinx would warn, but is not installed with the tests."""
    index = (DOCS / "index.md").read_text("utf-8")
    listed = [
        name
        for tree in re.findall(r"^```\{toctree\}\n(.+?)^```$", index, re.MULTILINE | re.DOTALL)
        for name in re.findall(r"^\w[\w-]*\*?$", tree, re.MULTILINE)
    ]
    pages = [page.stem for page in DOCS.glob("*.md") if page.stem != "index"]
    assert [page for page in pages if not any(fnmatch(page, name) for name in listed)] == []
