"""Sphinx: how the pages of this folder are built. ``tox run -e docs`` builds them."""

from __future__ import annotations

from importlib.metadata import version as version_of

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
