"""Which download handlers get the checks: those of scrapy-playwright, known by its name.

What the checks do is tested with the real plugin in ``tests/plugins``.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings as ScrapySettings
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.python import global_object_name

from scrapy_robotspec import Addon
from scrapy_robotspec.plugin.browser.handler import Browsers, guarded
from scrapy_robotspec.plugin.settings.checks import missing_parts
from tests.unit.plugin.browser.fakes import Playwright
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine


class Own(Playwright):  # type: ignore[misc]
    """A user's handler made of scrapy-playwright's."""

    abort_request = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls()

    async def download_request(self, request: Any) -> None: ...


class Old(Playwright):  # type: ignore[misc]
    """One that returns a Deferred."""

    def download_request(self, request: Any, spider: Any) -> None: ...


class Unrelated:
    """A handler without a browser."""


def handlers(**settings: Any) -> dict[str, Any]:
    """The download handlers after the add-on has changed the settings."""
    read = ScrapySettings({"ROBOTSTXT_OBEY": True, **settings})
    Addon().update_settings(read)
    Addon().update_settings(read)  # changes nothing
    return dict(read["DOWNLOAD_HANDLERS"])


@pytest.mark.parametrize("cls", [Playwright, Own, Old])
def test_a_handler_with_a_browser_is_replaced_by_a_subclass(cls: type) -> None:
    given = {"http": cls, "https": Unrelated, "ftp": None, "s3": "no.such.Handler"}
    found = handlers(DOWNLOAD_HANDLERS=given)
    checked = found.pop("http")
    assert found == {"https": Unrelated, "ftp": None, "s3": "no.such.Handler"}
    assert issubclass(checked, cls)
    assert checked is not cls
    assert checked.__mro__.count(cls) == 1
    assert len([base for base in checked.__mro__ if base.__name__.startswith("Guarded")]) == 1


def test_an_import_path_is_read_when_scrapy_has_its_reactor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A user's module may import a reactor, and Scrapy could not install another.

    Where scrapy-playwright is installed, the path may be that of a handler with a browser.
    """
    paths = {"http": f"{__name__}.Own", "https": f"{__name__}.Unrelated"}
    given = {**paths, "ftp": None, "s3": "scrapy.no.Handler"}
    monkeypatch.delitem(sys.modules, "twisted.internet.reactor", raising=False)
    monkeypatch.setitem(sys.modules, "scrapy_playwright", None)
    assert handlers(DOWNLOAD_HANDLERS=given) == given
    monkeypatch.delitem(sys.modules, "scrapy_playwright")
    (tmp_path / "scrapy_playwright").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    found = handlers(DOWNLOAD_HANDLERS=given)
    assert {scheme: global_object_name(found[scheme]) for scheme in paths} == paths
    assert found.keys() == given.keys()
    assert not found["http"].lazy, "it starts its browser with the engine"
    short = handlers(DOWNLOAD_HANDLERS={"http": "Handler"})["http"]
    crawler = crawler_with_engine()  # with old releases of Scrapy it installs a reactor
    own, unrelated = (build_from_crawler(found[scheme], crawler) for scheme in paths)
    assert isinstance(own, Own)
    assert own.obeys_robots_txt
    assert type(unrelated) is Unrelated
    with pytest.raises(ValueError, match="'Handler': not a full path"):  # as Scrapy says it
        build_from_crawler(short, crawler)


def test_an_import_path_is_read_at_once_where_there_is_a_reactor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "twisted.internet.reactor", ModuleType("reactor"))
    checked = handlers(DOWNLOAD_HANDLERS={"http": f"{__name__}.Own"})["http"]
    assert issubclass(checked, Own)
    assert checked is not Own


def test_the_subclass_returns_what_its_base_returns() -> None:
    """Scrapy calls coroutine functions and others in different ways."""
    found = handlers(DOWNLOAD_HANDLERS={"http": Own, "https": Old})
    assert inspect.iscoroutinefunction(found["http"].download_request)
    assert not inspect.iscoroutinefunction(found["https"].download_request)


@pytest.mark.parametrize(
    "settings",
    [
        {"ROBOTSPEC_BROWSER": "off"},
        {"ROBOTSTXT_OBEY": False},
        {"ROBOTSPEC_DRY_RUN": True},
        {"DOWNLOADER_MIDDLEWARES": {"scrapy_robotspec.RobotSpecMiddleware": None}},
    ],
    ids=repr,
)
def test_nothing_is_replaced_where_nothing_is_to_be_checked(settings: dict[str, Any]) -> None:
    given = {"http": Own}
    assert handlers(DOWNLOAD_HANDLERS=given, **settings) == given


def test_a_browser_that_a_later_add_on_brings_causes_a_warning() -> None:
    read = ScrapySettings({"ROBOTSTXT_OBEY": True, "DOWNLOAD_HANDLERS": {"http": Own}})
    Addon().update_settings(read)
    assert list(missing_parts(read, [], knows_queue=True)) == []
    read["DOWNLOAD_HANDLERS"] = {"http": Own}
    (problem,) = missing_parts(read, [], knows_queue=True)
    assert "its browser is not checked" in problem
    read["ROBOTSPEC_BROWSER"] = "off"
    assert list(missing_parts(read, [], knows_queue=True)) == []


_INIT = "playwright_page_init_callback"


class Opening:
    """Opens a page for each request that is for a browser, as scrapy-playwright does."""

    abort_request = None

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        return cls()

    async def download_request(self, request: Request) -> Response:
        if _INIT in request.meta:
            await request.meta[_INIT]("a page", request)
        return Response(request.url)


@pytest.mark.parametrize("has_callback", [False, True])
@pytest.mark.parametrize("is_for_browser", [False, True])
def test_a_page_is_checked_before_the_users_own_callback(
    monkeypatch: pytest.MonkeyPatch, is_for_browser: bool, has_callback: bool
) -> None:
    """The request keeps its own callback, and gets none of ours."""
    order: list[str] = []

    async def check(browsers: Browsers, page: Any, visit: Any) -> None:
        order.append("checked")

    async def own(page: Any, request: Request) -> None:
        order.append("callback")

    monkeypatch.setattr(Browsers, "check", check)
    handler = guarded(Opening).from_crawler(crawler_with_engine())  # type: ignore[attr-defined]
    meta = {"playwright": True} if is_for_browser else {}
    if has_callback:
        meta[_INIT] = own  # type: ignore[assignment]
    request = Request("https://example.com/", meta=meta)
    assert asyncio.run(handler.download_request(request)).url == request.url
    assert order == ["checked"] * is_for_browser + ["callback"] * has_callback
    assert request.meta.get(_INIT) == (own if has_callback else None)
    assert (_INIT in request.meta) is has_callback


@pytest.mark.parametrize(("browser", "every"), [("page", False), ("all", True), (None, False)])
def test_a_setting_says_whether_parts_of_pages_are_checked(
    browser: str | None, every: bool
) -> None:
    crawler = crawler_with_engine(ROBOTSPEC_BROWSER=browser)
    handler = guarded(Opening).from_crawler(crawler)  # type: ignore[attr-defined]
    assert handler._browsers._every is every
