"""Browsers: which requests of Firefox and WebKit are checked, as these describe them.

What a check does is tested with scrapy-playwright in ``tests/plugins``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scrapy_robotspec.plugin.browser.chromium import Chromium
from scrapy_robotspec.plugin.browser.handler import Browsers, Once


class Page:
    """A page that Scrapy opened."""


PAGE = Page()
MAIN = SimpleNamespace(parent_frame=None, page=PAGE)
INNER = SimpleNamespace(parent_frame=MAIN, page=PAGE)


class Guard:
    """Refuses everything, and notes whether the page was going there."""

    def __init__(self) -> None:
        self.navigates: list[bool] = []

    async def allows(self, url: str, visit: Any, *, navigates: bool) -> bool:
        self.navigates.append(navigates)
        return False


def request(kind: str, frame: Any, *, navigation: bool) -> Any:
    return SimpleNamespace(
        url="http://example.com/no",
        resource_type=kind,
        frame=frame,
        is_navigation_request=lambda: navigation,
    )


def check(asked: Any, *, every: bool) -> tuple[bool, list[bool]]:
    """Whether the request is aborted, and which checks were made."""
    guard = Guard()
    browsers = Browsers(cast("Any", guard), None, every=every)
    browsers._visits[PAGE] = cast("Any", "visit")
    return asyncio.run(browsers.aborts(asked)), guard.navigates


@pytest.mark.parametrize("every", [False, True], ids=["page", "all"])
def test_a_navigation_of_the_main_frame_is_checked_in_both_modes(every: bool) -> None:
    navigation = request("document", MAIN, navigation=True)
    assert check(navigation, every=every) == (True, [True])


@pytest.mark.parametrize(
    "asked",
    [
        request("document", INNER, navigation=True),  # <iframe>
        request("other", MAIN, navigation=True),  # <object> and <embed> in Firefox 153
        request("image", MAIN, navigation=False),
        request("document", MAIN, navigation=False),
    ],
    ids=["iframe", "object", "image", "prefetch"],
)
def test_what_a_page_embeds_is_checked_in_mode_all_and_ends_no_page(asked: Any) -> None:
    assert check(asked, every=False) == (False, [])
    assert check(asked, every=True) == (True, [False])


class Key:
    """A browser."""


def test_once_runs_once_for_each_object() -> None:
    """A caller that is cancelled does not stop the others."""
    ran: list[Key] = []

    async def start(key: Key) -> str:
        ran.append(key)
        await asyncio.sleep(0.01)
        return "started"

    async def run() -> list[str]:
        once, keys = Once(start), [Key(), Key()]
        first = asyncio.ensure_future(once(keys[0]))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await asyncio.gather(*(once(key) for key in keys * 3))

    assert asyncio.run(run()) == ["started"] * 6
    assert len(ran) == 2


@pytest.mark.parametrize("frame", ["missing", "of another page"])
def test_a_new_windows_navigation_is_checked_and_ends_no_page(frame: str) -> None:
    """Its first request has no frame yet, and Scrapy did not open it."""
    other = SimpleNamespace(parent_frame=None, page=Page())
    asked = request("document", other, navigation=True)
    if frame == "missing":
        del asked.frame
    assert check(asked, every=False) == (True, [False])


class Verdicts(Guard):
    """Allows URLs that end with ``yes``."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    async def allows(self, url: str, visit: Any, *, navigates: bool) -> bool:
        self.urls.append(url)
        return url.endswith("yes")


async def no(asked: Any) -> bool:
    return False


async def yes(asked: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("predicate", "by_user"),
    [(None, False), (lambda _: False, False), (lambda _: True, True), (no, False), (yes, True)],
)
@pytest.mark.parametrize("path", ["yes", "no"])
def test_a_request_is_aborted_by_the_user_or_by_robots_txt(
    predicate: Callable[[Any], Any] | None, by_user: bool, path: str
) -> None:
    guard = Verdicts()
    browsers = Browsers(cast("Any", guard), predicate, every=True)
    asked = request("image", MAIN, navigation=False)
    asked.url = f"http://example.com/{path}"
    assert asyncio.run(browsers.aborts(asked)) is (by_user or path == "no")
    assert guard.urls == ([] if by_user else [asked.url])


class Owner:
    """A page or a context, as playwright has them."""

    context: Any
    browser: Any

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)
        self.scripts = 0
        self.routes: list[Any] = []
        self.sockets: list[Any] = []

    async def add_init_script(self, script: str) -> None:
        self.scripts += 1

    async def route(self, pattern: str, handle: Any) -> None:
        self.routes.append(handle)

    async def route_web_socket(self, pattern: str, handle: Any) -> None:
        self.sockets.append(handle)


class Attached:
    """A Chromium whose requests are paused."""

    def __init__(self) -> None:
        self.pages: list[Any] = []

    async def add_page(self, page: Any, visit: Any) -> None:
        self.pages.append(page)


class World:
    """A browser that has the DevTools protocol or not."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, every: bool, devtools: bool, browser: bool = True
    ) -> None:
        self.attached: list[Any] = []
        """Browsers, or contexts without one."""
        self.chromium = Attached()
        self.guard = Verdicts()

        async def attach(owner: Any, guard: Any, *, every: bool) -> Any:
            self.attached.append(owner)
            if not devtools:
                raise ValueError("no DevTools protocol\nCall log: ...")
            return self.chromium

        monkeypatch.setattr(Chromium, "attach", attach)
        self.browser = Owner() if browser else None
        self.context = Owner(browser=self.browser)
        self.pages = [Owner(context=self.context) for _ in range(2)]
        self.browsers = Browsers(cast("Any", self.guard), None, every=every)

    async def open_pages(self) -> None:
        for page in self.pages:
            await self.browsers.check(page, cast("Any", "visit"))


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("devtools", [False, True])
def test_a_page_is_paused_by_its_chromium_or_routed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, devtools: bool, every: bool
) -> None:
    """WebSockets are checked in mode all; a context is prepared once, and one warning is logged."""
    caplog.set_level(logging.WARNING, "scrapy_robotspec")
    world = World(monkeypatch, every=every, devtools=devtools)
    asyncio.run(world.open_pages())
    assert world.attached == [world.browser]
    assert world.chromium.pages == (world.pages if devtools else [])
    assert len(world.context.routes) == (0 if devtools else 1)
    assert [len(each.sockets) for each in (world.context, *world.pages)] == [int(every)] * 3
    warned = [line for line in caplog.messages if "(no DevTools protocol)" in line]
    assert len(warned) == (0 if devtools else 1)
    frame = SimpleNamespace(parent_frame=None, page=world.pages[0])
    aborted = asyncio.run(world.browsers.aborts(request("document", frame, navigation=True)))
    assert aborted is not devtools, "a paused request is checked after the routes"


def test_browsers_that_cannot_be_paused_are_warned_of_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(monkeypatch, every=False, devtools=False)
    other = Owner(context=Owner(browser=Owner()))
    world.pages.append(other)
    asyncio.run(world.open_pages())
    assert world.attached == [world.browser, other.context.browser]
    assert len(caplog.messages) == 1


def test_a_context_without_a_browser_is_attached_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Android."""
    world = World(monkeypatch, every=False, devtools=True, browser=False)
    asyncio.run(world.open_pages())
    assert world.attached == [world.context]


@pytest.mark.parametrize("path", ["yes", "no"])
def test_a_route_and_a_web_socket_end_as_the_rules_say(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    ended: list[str] = []

    async def end(how: str, **reason: Any) -> None:
        ended.append(how)

    route = SimpleNamespace(abort=lambda: end("abort"), fallback=lambda: end("fallback"))
    socket = SimpleNamespace(
        url=f"wss://example.com/{path}",
        connect_to_server=lambda: ended.append("connect"),
        close=lambda **reason: end("close"),
    )
    world = World(monkeypatch, every=True, devtools=False)

    async def work() -> None:
        await world.open_pages()
        asked = request("document", MAIN, navigation=True)
        asked.url = f"https://example.com/{path}"
        await world.context.routes[0](route, asked)
        await world.pages[0].sockets[0](socket)

    asyncio.run(work())
    assert world.guard.urls == [f"https://example.com/{path}"] * 2
    assert ended == (["fallback", "connect"] if path == "yes" else ["abort", "close"])
