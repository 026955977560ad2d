"""Sphinx: how the pages of this folder are built. ``tox run -e docs`` builds them."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.logging import getLogger

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "scrapy-robotspec"
author = "the contributors of scrapy-robotspec"
release = version_of("scrapy-robotspec")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"scrapy-robotspec {release}"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Hop": "scrapy_robotspec.access.outcome.Hop"}

nitpicky = True
# Scrapy's names have no pages here, and what a reader is a kind of needs no link.
nitpick_ignore_regex = [
    ("py:class", r"(scrapy\..*|BaseSettings|Crawler|Request|DownloaderAwarePriorityQueue)"),
    # Types of attributes that are described on the usage page instead.
    ("py:class", r"(UsageRules|UsageRefusal|Preference|Mapping\[str|tuple\[UsageStatement)"),
]

#: Words that users type into the search, and the section that answers them, as page#section. The
#: search ignores numbers in texts, and ranks a page that repeats a word above the one about it.
SEARCHES = {
    "why#the-crawl-is-stuck-or-waits": "403, 407, 408, 425, 429, 500, 502, 503, 504, stuck, proxy",
    "why#a-page-was-crawled-that-should-be-refused": "401, 404, 410",
    "why#pages-were-crawled": "0 pages, nothing crawled",
    "how-to#when-in-doubt-do-not-fetch-403-429-html-pages": "403, 429",
    "how-to#crawl-hosts-that-are-often-down-503-timeouts": "503, timeout",
    "settings#robotspec-user-agent-token": "user agent, product token",
    "settings#robotspec-fetch-timeout": "timeout",
    "editions#editions-where-the-specifications-disagree": "google, rfc 9309",
    "lint#linter-find-mistakes-in-a-robots-txt": "lint",
    "bulk#verdicts-in-bulk": "common crawl",
    "security#redirects-and-private-addresses": "ssrf",
    "scaling#a-fleet-on-scrapy-redis": "scrapy-redis, fleet",
    "tutorial#tutorial-from-startproject-to-the-report-in-ten-minutes": "example, beginner",
}


def index_searches(app: Sphinx, doctree: nodes.document) -> None:
    """Make index entries of the words, which the search finds first."""
    page = app.env.current_document.docname
    sections = {section["ids"][0]: section for section in doctree.findall(nodes.section)}
    for target, words in SEARCHES.items():
        name, _, place = target.partition("#")
        if name == page and place not in sections:
            getLogger(__name__).warning("no section %s: %s", target, ", ".join(sections))
        elif name == page:
            entries = [("single", word, place, "main", None) for word in words.split(", ")]
            sections[place].insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> None:
    """Sphinx's entry."""
    app.connect("doctree-read", index_searches)
