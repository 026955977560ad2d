"""Settings that surprise get one line each at start, and others none."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import Settings

from scrapy_robotspec import Addon
from scrapy_robotspec.plugin.settings.checks import missing_parts
from scrapy_robotspec.plugin.settings.settings import Settings as OwnSettings


class OwnRobots(RobotsTxtMiddleware):
    """A user's variant of Scrapy's own."""


MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"


def warnings(caplog: pytest.LogCaptureFixture, settings: dict[str, Any]) -> list[str]:
    updated = Settings({"ROBOTSTXT_OBEY": True, **settings})
    Addon().update_settings(updated)
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    logged = [record.getMessage() for record in caplog.records]
    if updated.getbool("ROBOTSPEC_DRY_RUN"):  # Scrapy's own middleware is in place
        return logged
    return [*logged, *missing_parts(updated)]


@pytest.mark.parametrize(
    ("settings", "beginning"),
    [
        ({"ROBOTSPEC_USAGE_POLICY": "require-allowed"}, "ROBOTSPEC_USAGE_POLICY is set and"),
        ({"ROBOTSPEC_USAGE": ["search", "ai-train"]}, "ROBOTSPEC_USAGE contains 'ai-train'"),
        (
            {"ROBOTSPEC_USAGE": ["training"]},
            (
                "ROBOTSPEC_USAGE contains 'training', which no draft defines: 'train-ai' is "
                "probably meant. It concerns only pages of sites that state it; drafts define "
                "train-ai, search, ai-input,"
            ),
        ),
        ({"ROBOTSPEC_USAGE": ["x"]}, "ROBOTSPEC_USAGE contains 'x', which no draft defines. It"),
        ({"ROBOTSPEC_RETRY_TIME": 1}, "Unknown setting ROBOTSPEC_RETRY_TIME: it has no effect (is"),
        (
            {"ROBOTSPEC_USERAGENT_TOKEN": "x"},
            "Unknown setting ROBOTSPEC_USERAGENT_TOKEN: it has no",
        ),
        ({"ROBOTSPEC_TYPO": None}, "Unknown setting ROBOTSPEC_TYPO: it has no effect."),
        ({MIDDLEWARES: {OwnRobots: 110}}, f"{__name__}.OwnRobots is enabled"),
    ],
    ids=repr,
)
def test_a_surprising_setting_is_logged(
    caplog: pytest.LogCaptureFixture, settings: dict[str, Any], beginning: str
) -> None:
    (line,) = warnings(caplog, settings)
    assert line.startswith(beginning)
    assert "\n" not in line


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "require-allowed"},
        dict.fromkeys(OwnSettings.names()),
        {MIDDLEWARES: {RobotsTxtMiddleware: None}},
        {MIDDLEWARES: {"no.such.Middleware": 90}},
        {"ROBOTSPEC_DRY_RUN": True},
    ],
    ids=repr,
)
def test_harmless_settings_are_not_logged(
    caplog: pytest.LogCaptureFixture, settings: dict[str, Any]
) -> None:
    assert warnings(caplog, settings) == []
