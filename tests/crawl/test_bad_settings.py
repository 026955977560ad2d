"""A wrong setting stops the crawl at its start, and the last line says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import crawl
from tests.support.server import Server

OURS = "scrapy_robotspec.RobotSpecMiddleware"

#: Setting, wrong value, what the message must say besides the setting's name and the value.
WRONG: list[tuple[str, Any, str]] = [
    ("EDITION", "google-2018", "google-2019"),
    ("USER_AGENT_TOKEN", "tests.crawl.tokens.coroutine", "f(request, crawler)"),
    ("CACHE", "sqlite:////no/such/folder/x.db", "folder"),
    ("EVIDENCE", "/dev/null/x", "folder"),
    ("EVIDENCE", __file__, "folder, not of a file"),
    ("REPORT", "/no/such\0/x.html", "local path"),
    ("REPORT", "/proc/x.html", "can write"),
    ("CACHE_MIN_TTL", 90_000, "ROBOTSPEC_CACHE_MAX_TTL"),
]


@pytest.mark.parametrize(("name", "value", "remedy"), WRONG)
def test_message_is_the_last_line(server: Server, name: str, value: Any, remedy: str) -> None:
    """It names the setting, the value and the remedy; nothing is asked for."""
    site = server.site("127.0.0.2", "")
    result = crawl([site.url("/x")], {f"ROBOTSPEC_{name}": value})
    assert result.exit_code == 1
    last = result.log.strip().splitlines()[-1]
    for words in ("ConfigurationError", f"ROBOTSPEC_{name}", repr(value), remedy):
        assert words in last
    assert server.log == []
    assert_one_line(result.log)


def assert_one_line(log: str) -> None:
    """The problem is one line, before the one traceback, which is Scrapy's."""
    lines = log.splitlines()
    (ours,) = (n for n, line in enumerate(lines) if "[scrapy_robotspec] ERROR" in line)
    (trace,) = (n for n, line in enumerate(lines) if line.startswith("Traceback"))
    assert ours < trace
    frames = [line for line in lines[trace:] if line.startswith("  File ")]
    assert sum("scrapy_robotspec" in frame for frame in frames) <= 2
    assert lines[ours].partition("ERROR: ")[2] == lines[-1].partition(": ")[2]


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"ADDONS": {OURS: 500}}, "ADDONS = "),
        (
            {
                "ADDONS": {},
                "DOWNLOADER_MIDDLEWARES": {OURS: 100},
                "ROBOTSPEC_DRY_RUN": True,
            },
            "ADDONS = ",
        ),
        *(
            ({components: {"scrapy_robotspec.Addon": 500}}, "ADDONS = ")
            for components in (
                "DOWNLOADER_MIDDLEWARES",
                "SPIDER_MIDDLEWARES",
                "EXTENSIONS",
                "ITEM_PIPELINES",
            )
        ),
        (
            {"ADDONS": {}, "ROBOTSTXT_PARSER": "scrapy_robotspec.RobotsTxt"},
            'ROBOTSTXT_PARSER = "scrapy_robotspec.RobotSpecParser"',
        ),
        (
            {"ADDONS": {}, "ROBOTSTXT_PARSER": "scrapy_robotspec.Addon"},
            'ROBOTSTXT_PARSER = "scrapy_robotspec.RobotSpecParser"',
        ),
    ],
    ids=str,
)
def test_a_component_in_the_place_of_another_is_named(
    server: Server, settings: dict[str, Any], remedy: str
) -> None:
    """With the line to write instead; nothing is requested.

    Older versions of Scrapy add an error of their own behind one that is raised this late.
    """
    site = server.site("127.0.0.2", "")
    result = crawl([site.url("/x")], settings)
    assert result.exit_code == 1
    lines = [line for line in result.log.splitlines() if "ConfigurationError: " in line]
    assert lines
    assert all(remedy in line for line in lines)
    assert site.log == []
