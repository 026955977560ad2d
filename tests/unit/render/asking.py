"""Explanations that the tests of renderers share."""

from __future__ import annotations

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.render.explanation import Explanation, explain, in_full
from scrapy_robotspec.render.parsed_file import ParsedFile


def explain_in_full(robots: RobotsTxt, url: str, *tokens: str) -> Explanation:
    """The verdict of a file about a URL, with everything that led to it."""
    file = ParsedFile(robots)
    return in_full(explain(file, url, tokens), file)
