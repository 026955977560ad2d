"""Explanations of single verdicts."""

from __future__ import annotations

import pytest

from scrapy_robotspec import EDITIONS, RobotsTxt
from scrapy_robotspec.render.explanation import explain_fully
from scrapy_robotspec.render.parsed_file import ParsedFile


@pytest.mark.parametrize("edition", [name for name in EDITIONS if name != "google"])
def test_the_compared_path_is_shown_as_in_a_url(edition: str) -> None:
    """Not by the control characters that stand for literal signs inside the package."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /x\n", edition)
    url = "http://example.com/50%/a$b*%2a%7e"
    shown = "/50%/a%24b%2A%2A~"
    assert explain_fully(ParsedFile(robots), url, ["FooBot"]).path == shown
