"""A wrong setting stops the crawl at its start, and the last line says what to do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.crawl import MODES, Result, crawl
from tests.support.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Setting, wrong value, what the message must say besides the setting's name and the value.
WRONG: list[tuple[str, Any, str]] = [
    ("EDITION", "google-2018", "google-2019"),
    ("USER_AGENT_TOKEN", "my bot 2.0", "product token"),
    ("CACHE", "sqlite:////no/such/folder/x.db", "folder"),
    ("CACHE_MIN_TTL", 90_000, "ROBOTSPEC_CACHE_MAX_TTL"),
    ("OVERRIDES", {"http://example.com": "ignore"}, "host"),
]


@pytest.fixture(scope="module")
def crawled() -> Iterator[tuple[Server, list[Result]]]:
    """A crawl for each wrong value, two at a time."""
    with Server() as server, ThreadPoolExecutor(2) as pool:
        site = server.site("127.0.0.2", "")
        jobs = [
            pool.submit(crawl, [site.url("/x")], {f"ROBOTSPEC_{name}": value}, mode=mode)
            for (name, value, _), mode in zip(WRONG, [*MODES] * len(WRONG), strict=False)
        ]
        yield server, [job.result() for job in jobs]


@pytest.mark.parametrize("number", range(len(WRONG)), ids=lambda n: f"{WRONG[n][0]}={WRONG[n][1]}")
def test_message_is_the_last_line(crawled: tuple[Server, list[Result]], number: int) -> None:
    """It names the setting, the value and the remedy."""
    name, value, remedy = WRONG[number]
    result = crawled[1][number]
    assert result.exit_code == 1
    last = result.log.strip().splitlines()[-1]
    assert "ConfigurationError" in last
    assert f"ROBOTSPEC_{name}" in last
    assert repr(value) in last
    assert remedy in last


def test_nothing_was_asked_for(crawled: tuple[Server, list[Result]]) -> None:
    """Neither a page nor a robots.txt."""
    assert crawled[0].log == []


def test_a_name_that_no_setting_has_is_warned_of(server: Server) -> None:
    """Once, with the name that is meant."""
    site = server.site("127.0.0.2", "")
    result = crawl([site.url("/x")], {"ROBOTSPEC_HOLD_TIME_OUT": 5})
    (line,) = result.lines("WARNING", "[scrapy_robotspec]")
    assert "ROBOTSPEC_HOLD_TIME_OUT" in line
    assert "ROBOTSPEC_HOLD_TIMEOUT" in line
    assert site.pages_asked == ["/x"]


def test_a_middleware_that_is_set_up_by_hand_checks_too(server: Server) -> None:
    """Without the add-on the crawl fails as well, and names the setting."""
    site = server.site("127.0.0.2", "")
    by_hand = {
        "ADDONS": {},
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
            "scrapy_robotspec.RobotSpecMiddleware": 100,
        },
    }
    result = crawl([site.url("/x")], {**by_hand, "ROBOTSPEC_UNREACHABLE": "deny"})
    assert result.exit_code == 1
    assert "ConfigurationError: ROBOTSPEC_UNREACHABLE" in result.log
    assert site.log == []


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"ADDONS": {"scrapy_robotspec.RobotSpecMiddleware": 500}}, "ADDONS = "),
        ({"DOWNLOADER_MIDDLEWARES": {"scrapy_robotspec.Addon": 500}}, "ADDONS = "),
        (
            {"ADDONS": {}, "ROBOTSTXT_PARSER": "scrapy_robotspec.RobotsTxt"},
            'ROBOTSTXT_PARSER = "scrapy_robotspec.RobotSpecParser"',
        ),
    ],
    ids=str,
)
def test_a_component_in_the_place_of_another_is_named(
    server: Server, settings: dict[str, Any], remedy: str
) -> None:
    """With the line to write instead; nothing is requested."""
    site = server.site("127.0.0.2", "")
    result = crawl([site.url("/x")], settings)
    assert result.exit_code == 1
    last = result.log.strip().splitlines()[-1]
    assert "ConfigurationError" in last
    assert remedy in last
    assert site.log == []
