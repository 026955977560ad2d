"""The add-on: what it sets, what it leaves alone, and when it stops a crawl before it begins.

Read back from real crawlers, as Scrapy reads it.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider, version_info
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.settings import BaseSettings
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_robotspec import (
    Addon,
    RobotSpecMiddleware,
    WaitingPriorityQueue,
)
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin._compat import RAISED_LIMITS
from scrapy_robotspec.plugin.dry_run import DryRunMiddleware
from scrapy_robotspec.plugin.scheduling.priority_queue import WaitingGlobalQueue
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.unit.plugin.browser.fakes import Playwright

STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
OURS = "scrapy_robotspec.RobotSpecMiddleware"
QUEUE, SCHEDULER = "SCHEDULER_PRIORITY_QUEUE", "SCHEDULER"


class OwnQueue(ScrapyPriorityQueue):
    """A user's queue."""


class OwnScheduler(Scheduler):
    """A user's scheduler."""


class OwnHandler:
    """A user's download handler with connections of its own."""


class OtherMiddleware:
    """A user's middleware."""


def update(priority: str = "project", /, **settings: Any) -> ScrapySettings:
    settings.setdefault("ROBOTSTXT_OBEY", True)
    read = ScrapySettings(settings, priority)
    Addon().update_settings(read)
    return read


def middlewares(settings: BaseSettings) -> list[type]:
    """Downloader middlewares in the order in which this Scrapy would build them."""
    listed = DownloaderMiddlewareManager._get_mwlist_from_settings(settings)
    return [load_object(each) for each in listed]


def plain(settings: BaseSettings) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, BaseSettings) else value
        for name, value in settings.items()
    }


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {STOCK: 100},
        {RobotsTxtMiddleware: 100},
        {STOCK: None},
        {RobotsTxtMiddleware: None},
        {OtherMiddleware: 90},
        {OURS: 100},
        {RobotSpecMiddleware: 100},
        {RobotSpecMiddleware: 100, RobotsTxtMiddleware: None, OtherMiddleware: 90},
    ],
    ids=repr,
)
def test_ours_stands_where_scrapys_own_stood(
    chosen: dict[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    before = middlewares(ScrapySettings())
    settings = update(DOWNLOADER_MIDDLEWARES=chosen)
    after = [mw for mw in middlewares(settings) if mw is not OtherMiddleware]
    assert after == [RobotSpecMiddleware if mw is RobotsTxtMiddleware else mw for mw in before]
    assert (OtherMiddleware in middlewares(settings)) is (OtherMiddleware in chosen)
    assert caplog.records == []  # Scrapy warns of a component named twice


@pytest.mark.parametrize(
    "chosen",
    [
        *({key: 910} for key in (STOCK, RobotsTxtMiddleware, OURS, RobotSpecMiddleware)),
        f'{{"{STOCK}": 910}}',
    ],
    ids=repr,
)
def test_a_position_that_the_user_chose_is_kept(chosen: Any) -> None:
    """Also on the command line."""
    listed = middlewares(update(DOWNLOADER_MIDDLEWARES=chosen))
    assert RobotsTxtMiddleware not in listed
    assert listed[-1] is RobotSpecMiddleware


def test_ours_switched_off_leaves_scrapys_own_in_place(caplog: pytest.LogCaptureFixture) -> None:
    settings = update(DOWNLOADER_MIDDLEWARES={RobotSpecMiddleware: None})
    assert middlewares(settings) == middlewares(ScrapySettings())
    assert settings[QUEUE] == ScrapySettings()[QUEUE]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {QUEUE: DownloaderAwarePriorityQueue},
        {QUEUE: "scrapy.pqueues.DownloaderAwarePriorityQueue"},
        {SCHEDULER: Scheduler},
        {"CONCURRENT_REQUESTS_PER_IP": 0},
    ],
    ids=repr,
)
@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_scrapys_queue_becomes_ours(settings: dict[str, Any], priority: str) -> None:
    updated = update(priority, **settings)
    assert issubclass(load_object(updated[QUEUE]), WaitingPriorityQueue)
    assert load_object(updated[SCHEDULER]) is Scheduler


def test_the_default_queue_of_scrapy_2_13_becomes_one_with_its_global_order() -> None:
    settings = ScrapySettings({"ROBOTSTXT_OBEY": True, "USER_AGENT": "examplebot/1.0"})
    settings.set(QUEUE, "scrapy.pqueues.ScrapyPriorityQueue", "default")
    Addon().update_settings(settings)
    assert load_object(settings[QUEUE]) is WaitingGlobalQueue


@pytest.mark.parametrize(
    "settings",
    [
        {QUEUE: OwnQueue},
        {QUEUE: WaitingPriorityQueue},
        {QUEUE: "scrapy.pqueues.ScrapyPriorityQueue"},
        {SCHEDULER: OwnScheduler},
        {"CONCURRENT_REQUESTS_PER_IP": 2, QUEUE: ScrapyPriorityQueue},
    ],
    ids=repr,
)
@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_what_the_user_chose_is_kept(settings: dict[str, Any], priority: str) -> None:
    updated = update(priority, **settings)
    for name in (QUEUE, SCHEDULER):
        assert updated[name] == ScrapySettings(settings)[name]
    before = plain(updated)
    Addon().update_settings(updated)
    assert plain(updated) == before


@pytest.mark.parametrize(
    "handler",
    ["scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler", "does.not.Exist", None],
)
def test_other_handlers_get_no_more_connections(handler: str | None) -> None:
    updated = update(DOWNLOAD_HANDLERS={"http": handler}, CONCURRENT_REQUESTS=8)
    assert updated.getint("CONCURRENT_REQUESTS") == 8


def test_nothing_else_is_touched() -> None:
    before, after = plain(ScrapySettings({"ROBOTSTXT_OBEY": True})), plain(update())
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"DOWNLOADER_MIDDLEWARES", QUEUE}


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    "handlers",
    [{"TWISTED_REACTOR_ENABLED": False}, {"DOWNLOAD_HANDLERS": {"https": OwnHandler}}],
    ids=["without a reactor", "a handler without Twisted"],
)
def test_handlers_with_few_connections_get_some_for_robots_txt_too(
    handlers: dict[str, Any], dry_run: bool
) -> None:
    """From Scrapy 2.15 on; the middleware takes the room off again for pages."""
    updated = update(**handlers, CONCURRENT_REQUESTS=8, ROBOTSPEC_DRY_RUN=dry_run)
    room = Settings.from_scrapy(updated).most_fetches
    assert updated.getint("CONCURRENT_REQUESTS") == 8 + room
    assert updated.get(RAISED_LIMITS)["CONCURRENT_REQUESTS"] == (8, 8 + room)
    Addon().update_settings(updated)
    assert updated.getint("CONCURRENT_REQUESTS") == 8 + room
    unlimited = update(**handlers, CONCURRENT_REQUESTS=0)
    assert unlimited.getint("CONCURRENT_REQUESTS") == 0


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {STOCK: 120},
        {STOCK: 120, OtherMiddleware: 110},
        {OURS: 90},
        {OURS: 90, STOCK: None},
        {STOCK: None},
        {OtherMiddleware: 100},
        {OtherMiddleware: 100, OURS: 100},
        {OURS: None},
    ],
    ids=repr,
)
def test_a_dry_run_rehearses_the_place_of_a_real_run(
    chosen: dict[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    before = plain(ScrapySettings())
    settings = update(ROBOTSPEC_DRY_RUN=True, DOWNLOADER_MIDDLEWARES=chosen)
    real = middlewares(update(DOWNLOADER_MIDDLEWARES=chosen))
    rehearsed = [DryRunMiddleware if mw is RobotSpecMiddleware else mw for mw in real]
    assert middlewares(settings) == rehearsed
    after = plain(settings)
    if OURS not in chosen or chosen[OURS] is not None:
        changed = {name for name in after if after[name] != before.get(name)}
        given = {"ROBOTSTXT_OBEY", "ROBOTSPEC_DRY_RUN"}
        assert changed == {"DOWNLOADER_MIDDLEWARES", *given}
        assert caplog.records == []
    Addon().update_settings(settings)
    assert plain(settings) == after
    assert middlewares(settings) == rehearsed


#: Components of a user's, and some of Scrapy's own.
OTHERS = [type(f"Other{n}", (), {}) for n in range(4)]
SCRAPYS: list[Any] = [
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
    "scrapy.downloadermiddlewares.retry.RetryMiddleware",
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware",
    HttpCompressionMiddleware,
]
#: Before Scrapy 2.15 its own middleware stays at 100 beside a class at another number.
SCRAPYS_OWN = [STOCK, *([RobotsTxtMiddleware] if version_info >= (2, 15) else [])]
NUMBERS = st.sampled_from([99, 100, 101, 550])


@given(
    chosen=st.lists(
        st.tuples(st.sampled_from([*OTHERS, *SCRAPYS, *SCRAPYS_OWN]), NUMBERS | st.none()),
        unique_by=lambda pair: global_object_name(load_object(pair[0])),
    ).map(dict)
)
def test_ours_stands_before_all_that_scrapys_own_stood_before(chosen: dict[Any, Any]) -> None:
    """Also among equal numbers; what stood before Scrapy's own alone may be later."""
    enabled = {**chosen, STOCK: 100} if chosen.get(STOCK, 100) is None else dict(chosen)
    if enabled.get(RobotsTxtMiddleware, 100) is None:
        enabled[RobotsTxtMiddleware] = 100
    before = middlewares(ScrapySettings({"DOWNLOADER_MIDDLEWARES": enabled}))
    after = middlewares(update(DOWNLOADER_MIDDLEWARES=chosen))
    first, ours = before.index(RobotsTxtMiddleware), after.index(RobotSpecMiddleware)
    assert RobotsTxtMiddleware not in after
    assert set(before[first:]) - {RobotsTxtMiddleware} <= set(after[ours:])
    rest = [mw for mw in before if mw is not RobotsTxtMiddleware]
    assert [mw for mw in after if mw is not RobotSpecMiddleware] == rest
    if not set(before[:first]) <= set(after[:ours]):  # Scrapy sorts OffsiteMiddleware first
        assert [global_object_name(mw) for mw in set(before[:first]) - set(after[:ours])] == [
            SCRAPYS[0]
        ]


@pytest.mark.parametrize("base", [{}, {"DOWNLOADER_MIDDLEWARES_BASE": {SCRAPYS[2]: 550}}])
def test_a_component_of_scrapys_that_stood_before_its_own_stays_there(base: dict[str, Any]) -> None:
    """Also if it has the same number, or Scrapy's own is not there at all."""
    offsite, retry = map(load_object, (SCRAPYS[0], SCRAPYS[2]))
    listed = middlewares(update(DOWNLOADER_MIDDLEWARES={SCRAPYS[0]: 100}, **base))
    first = [RobotSpecMiddleware, offsite] if base else [offsite, RobotSpecMiddleware]
    assert listed[:2] == first
    assert retry in listed


@given(
    numbers=st.lists(st.tuples(st.sampled_from(OTHERS), NUMBERS), unique_by=lambda pair: pair[0]),
    ours=st.integers(0, 4),
    place=NUMBERS,
)
def test_the_place_of_an_entry_for_ours_is_the_users(
    numbers: list[tuple[type, int]], ours: int, place: int
) -> None:
    written = [*numbers[:ours], (RobotSpecMiddleware, place), *numbers[ours:]]
    chosen = dict[Any, Any](written)
    ordered = [mw for mw, _ in sorted(written, key=lambda pair: pair[1])]
    after = middlewares(update(DOWNLOADER_MIDDLEWARES=chosen))
    assert [mw for mw in after if mw in chosen] == ordered


def test_the_log_shows_names(caplog: pytest.LogCaptureFixture) -> None:
    """Scrapy logs the add-ons, the settings that they change, and the middlewares."""
    settings = update(ADDONS={Addon: 500})
    listed = DownloaderMiddlewareManager._get_mwlist_from_settings(settings)
    assert repr(Addon()) == "scrapy_robotspec.Addon"
    assert "scrapy_robotspec.RobotSpecMiddleware" in listed
    assert str(settings[QUEUE]).startswith("scrapy_robotspec.")


def test_a_store_out_of_order_stops_no_crawl(tmp_path: Any) -> None:
    broken = tmp_path / "robots.db"
    broken.write_bytes(b"this is no database" * 1000)
    settings = update(ROBOTSPEC_CACHE=f"sqlite:///{broken}")
    assert RobotSpecMiddleware in middlewares(settings)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"ROBOTSPEC_CACHE": "robots.db"}, "use sqlite:///robots.db"),
        ({"ROBOTSPEC_EDITION": "x"}, "ROBOTSPEC_EDITION"),
    ],
)
def test_a_wrong_setting_stops_the_crawl_before_it_begins(
    others: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        update(**others)


def test_a_setting_without_an_effect_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    update(ROBOTSPEC_TYPO=1, ROBOTSTXT_USER_AGENT="x")
    assert caplog.messages == ["Unknown setting ROBOTSPEC_TYPO: it has no effect."]


@pytest.mark.parametrize(
    "beginning", ["ROBTOSPEC", "ROBOSTPEC", "RBOTSPEC", "RBOOTSPEC", "robspec"]
)
def test_a_mistyped_beginning_is_warned_of(
    beginning: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"{beginning}_EDITION"
    update(**{name: "google"})
    hint = "is ROBOTSPEC_EDITION meant?"
    assert caplog.messages == [f"Unknown setting {name}: it has no effect ({hint})."]


@pytest.mark.parametrize(
    ("handlers", "browser", "checked"),
    [
        ({"https": Playwright}, "page", ["https"]),
        ({"https": Playwright}, "off", []),
        ({"https": OwnHandler}, "page", []),
        ({}, "page", []),
    ],
)
def test_browsers_are_checked_unless_that_is_off(
    handlers: dict[str, type], browser: str, checked: list[str]
) -> None:
    settings = update(DOWNLOAD_HANDLERS=handlers, ROBOTSPEC_BROWSER=browser)
    chosen = settings.getdict("DOWNLOAD_HANDLERS")
    assert [scheme for scheme, each in chosen.items() if hasattr(each, "obeys_robots_txt")] == (
        checked
    )


@pytest.mark.parametrize(
    ("extensions", "is_frozen", "body", "words"),
    [
        ({}, False, (), None),
        ({Addon: None}, False, (), "is an add-on"),
        ({"scrapy_robotspec.Addon": 500}, False, (), "is an add-on"),
        ({}, True, (), "is an add-on"),
        ({}, False, (b"User-agent: *",), "RobotSpecParser"),
    ],
)
def test_the_add_on_is_nothing_but_an_add_on(
    extensions: dict[Any, Any], is_frozen: bool, body: tuple[bytes, ...], words: str | None
) -> None:
    """Scrapy makes extensions before its settings are frozen, other components afterwards."""
    crawler = Crawler(Spider, {"EXTENSIONS": extensions})
    if is_frozen:
        crawler.settings.freeze()
    if words is None:
        assert isinstance(Addon.from_crawler(crawler, *body), Addon)
    else:
        with pytest.raises(ConfigurationError, match=words):
            Addon.from_crawler(crawler, *body)
