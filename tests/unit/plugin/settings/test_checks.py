"""Settings that surprise get one line each at start, and others none."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import version_info
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings, Settings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_robotspec import Addon, RobotSpecMiddleware
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.middleware import other_middlewares
from scrapy_robotspec.plugin.scheduling.priority_queue import waiting_queue
from scrapy_robotspec.plugin.settings.checks import (
    log_switched_off,
    missing_parts,
    unchecked_browsers,
    warn_of_old_job,
)
from scrapy_robotspec.plugin.settings.settings import Settings as OwnSettings
from tests.unit.plugin.browser.fakes import Playwright


class OwnRobots(RobotsTxtMiddleware):
    """A user's variant of Scrapy's own."""


MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"


def missing_in(settings: Settings) -> list[str]:
    knows_queue = waiting_queue(settings) is None
    return list(missing_parts(settings, other_middlewares(settings), knows_queue=knows_queue))


def warnings(caplog: pytest.LogCaptureFixture, settings: dict[str, Any]) -> list[str]:
    updated = Settings({"ROBOTSTXT_OBEY": True, **settings})
    Addon().update_settings(updated)
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    logged = [record.getMessage() for record in caplog.records]
    if updated.getbool("ROBOTSPEC_DRY_RUN"):  # Scrapy's own middleware is in place
        return logged
    return [*logged, *missing_in(updated)]


@pytest.mark.parametrize(
    ("settings", "beginning"),
    [
        *(
            ({name: value}, f"{name} is set and {needed} is not: it has no effect.")
            for name, value, needed in (
                ("ROBOTSPEC_EVIDENCE_TIMESTAMP", "true {digest} {output}", "ROBOTSPEC_EVIDENCE"),
                ("ROBOTSPEC_EVIDENCE_OPERATOR", "Example Ltd", "ROBOTSPEC_EVIDENCE"),
                ("ROBOTSPEC_EVIDENCE_HEADERS", "X-Mine", "ROBOTSPEC_EVIDENCE"),
                ("ROBOTSPEC_CRAWL_DELAY_MAX", 5, "ROBOTSPEC_CRAWL_DELAY"),
                ("ROBOTSPEC_USAGE_POLICY", "require-allowed", "ROBOTSPEC_USAGE"),
            )
        ),
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
        *(
            ({wrong: "x"}, f"Unknown setting {wrong}: it has no effect (is {meant} meant?)")
            for wrong, meant in {
                "ROBOSPEC_CACHE": "ROBOTSPEC_CACHE",
                "ROBOTS_CACHE_TTL": "ROBOTSPEC_CACHE_TTL",
                "ROBOTS_CACHE_TLL": "ROBOTSPEC_CACHE_TTL",
                "robotspec_edition": "ROBOTSPEC_EDITION",
                "ROBOTSTXT_EDITION": "ROBOTSPEC_EDITION",
                "ROBOTSTXT_USER_AGENT_TOKEN": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOT_SPEC_EDITION": "ROBOTSPEC_EDITION",
                "ROBOTSPECEDITION": "ROBOTSPEC_EDITION",
                "ROBOTS_TXT_OBEY": "ROBOTSTXT_OBEY",
                "ROBOTSPEC_TOKEN": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOTSPEC_TOKENS": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOTSPEC_USER_AGENT": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOTSPEC_OBEY": "ROBOTSTXT_OBEY",
                "ROBOTSPEC_ENABLED": "ROBOTSTXT_OBEY",
                "ROBOTSPEC_IGNORE": "ROBOTSPEC_OVERRIDES",
                "ROBOTSTXT_USERAGENT": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOTSPEC_USERAGENT": "ROBOTSPEC_USER_AGENT_TOKEN",
                "ROBOTSPEC_DELAY": "ROBOTSPEC_RETRY_DELAY or ROBOTSPEC_RETRY_MAX_DELAY or "
                "ROBOTSPEC_CRAWL_DELAY or ROBOTSPEC_CRAWL_DELAY_MAX or "
                "ROBOTSPEC_DEFAULT_CRAWL_DELAY",
            }.items()
        ),
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
        {"ROBOTSPEC_EVIDENCE": None, "ROBOTSPEC_EVIDENCE_OPERATOR": "x"},
        {"ROBOTSPEC_CRAWL_DELAY": False, "ROBOTSPEC_CRAWL_DELAY_MAX": 5},
        {MIDDLEWARES: {RobotsTxtMiddleware: None}},
        {"ROBOTSTXT_USER_AGENT": "*", "ROBOTICS": 1, "ROBOT_NAME": "x"},
        {"ROBOTSPEC_DRY_RUN": True},
    ],
    ids=repr,
)
def test_harmless_settings_are_not_logged(
    caplog: pytest.LogCaptureFixture, settings: dict[str, Any]
) -> None:
    assert warnings(caplog, settings) == []


BASE = default_settings.DOWNLOADER_MIDDLEWARES_BASE
STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
OWN = f"{__name__}.OwnRobots"
OURS = "scrapy_robotspec.RobotSpecMiddleware"
_KEYS = st.sampled_from([STOCK, RobotsTxtMiddleware, OWN, OwnRobots, OURS, RobotSpecMiddleware])
_CHOSEN = st.dictionaries(_KEYS, st.none() | st.integers(1, 999), max_size=4)


@given(base=_CHOSEN, chosen=_CHOSEN, uses_addon=st.booleans())
def test_what_scrapy_would_enable_is_warned_of_and_nothing_else(
    base: dict[Any, Any], chosen: dict[Any, Any], uses_addon: bool
) -> None:
    """Both settings are merged as Scrapy merges them, whatever the spelling of a key."""
    settings = Settings(
        {
            "ROBOTSTXT_OBEY": True,
            "DOWNLOADER_MIDDLEWARES_BASE": {**BASE, **base},
            MIDDLEWARES: {OURS: 100, **chosen},
        }
    )
    if uses_addon:
        Addon().update_settings(settings)
    try:
        enabled = DownloaderMiddlewareManager._get_mwlist_from_settings(settings)
    except ValueError:  # Scrapy stops: one middleware is named twice
        return
    others = {RobotsTxtMiddleware, OwnRobots} & {load_object(each) for each in enabled}
    warned = [line for line in missing_in(settings) if "is enabled beside" in line]
    assert {line.partition(" ")[0] for line in warned} == set(map(global_object_name, others))


@pytest.mark.parametrize(
    ("priority", "source"),
    [("project", "settings"), ("spider", "spider"), ("cmdline", "command line"), (25, "settings")],
)
def test_the_source_of_a_switched_off_robots_txt_is_named(
    priority: str | int, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Projects do so in some of their spiders, with good reason."""
    caplog.set_level("INFO")
    settings = Settings()
    settings.set("ROBOTSTXT_OBEY", False, priority)
    before = dict(settings[MIDDLEWARES])
    Addon().update_settings(settings)
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.getMessage() == f"robots.txt is not obeyed: ROBOTSTXT_OBEY is off ({source})"
    assert dict(settings[MIDDLEWARES]) == before


def test_a_default_that_switches_it_off_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    Addon().update_settings(Settings())
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "Set ROBOTSTXT_OBEY = True" in record.getMessage()


def test_settings_without_robots_txt_are_those_of_the_default(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log_switched_off(BaseSettings())
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("contents", [None, b"0a1f" * 10])
def test_a_job_that_this_scrapy_cannot_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, contents: bytes | None
) -> None:
    if contents is not None:
        (tmp_path / "requests.seen").write_bytes(contents)
    warn_of_old_job(Settings({"JOBDIR": str(tmp_path)}))
    is_old = contents is not None and version_info >= (2, 19)
    assert ["requests.seen was written by" in line for line in caplog.messages] == [True] * is_old


class Browser(Playwright):  # type: ignore[misc]
    """A user's handler made of scrapy-playwright's."""


class Checked(Playwright):  # type: ignore[misc]
    """One of ours."""

    obeys_robots_txt = True


@pytest.mark.parametrize("is_installed", [False, True])
def test_handlers_with_a_browser_are_known_by_their_base(
    monkeypatch: pytest.MonkeyPatch, is_installed: bool
) -> None:
    """A user's module is not imported before Scrapy has installed its reactor."""
    monkeypatch.setattr(_compat, "is_reactor_installed", lambda: is_installed)
    handlers: dict[str, Any] = {
        "http": Browser,
        "https": Checked,
        "ftp": None,
        "s3": OwnRobots,
        "a": f"{__name__}.Browser",
        "b": "no.such.Handler",
    }
    found = unchecked_browsers(Settings({"DOWNLOAD_HANDLERS": handlers}))
    assert found == {"http": Browser, **({"a": Browser} if is_installed else {})}


@pytest.mark.parametrize(
    ("handler", "browser", "is_warned_of"),
    [
        (Browser, "page", True),
        (Browser, None, True),
        (Browser, "off", False),
        (Checked, "page", False),
    ],
)
def test_a_browser_that_nothing_checks_is_warned_of(
    handler: type, browser: str | None, is_warned_of: bool
) -> None:
    settings = Settings({"DOWNLOAD_HANDLERS": {"https": handler}, "ROBOTSPEC_BROWSER": browser})
    found = list(missing_parts(settings, [], knows_queue=True))
    assert ["its browser is not checked" in line for line in found] == [True] * is_warned_of


@pytest.mark.parametrize(
    ("others", "knows_queue", "beginnings"),
    [
        ([], True, []),
        ([], False, ["The scheduler does not know"]),
        ([OwnRobots], True, [f"{__name__}.OwnRobots is enabled"]),
        ([OwnRobots], False, [f"{__name__}.OwnRobots is enabled"]),
    ],
)
def test_a_queue_is_missed_only_where_ours_alone_decides(
    others: list[type], knows_queue: bool, beginnings: list[str]
) -> None:
    found = list(missing_parts(Settings(), others, knows_queue=knows_queue))
    assert len(found) == len(beginnings)
    assert all(map(str.startswith, found, beginnings))
