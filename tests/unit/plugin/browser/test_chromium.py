"""Chromium: which paused requests go on, against a stand-in for its DevTools protocol.

What the real browser does is tested in ``tests/plugins``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from scrapy import Request

from scrapy_robotspec.plugin.browser.chromium import Chromium
from scrapy_robotspec.plugin.browser.guard import Visit

SITE = "http://example.com"
Event = dict[str, Any]


class ClosedError(Exception):
    """Playwright's, of a page or a browser that was closed."""


class Session:
    """A DevTools session of the browser, or of one page."""

    def __init__(self, devtools: DevTools, page: Page | None = None) -> None:
        self._devtools = devtools
        self._page = page
        self.is_detached = False

    def on(self, event: str, call: Callable[[Event], Any]) -> None:
        assert event == "Fetch.requestPaused"
        self._devtools.on_paused = call

    async def send(self, method: str, arguments: Event | None = None) -> Event:
        if method == "Fetch.enable":
            assert arguments is not None
            (self._devtools.pattern,) = arguments["patterns"]
        elif method == "Target.getTargetInfo":
            target = self._page.frame if self._page else (arguments or {})["targetId"]
            return {"targetInfo": {"targetId": target, **self._devtools.targets[target]}}
        elif method == "Page.getFrameTree":
            assert self._page is not None
            if self._page.is_closed:
                raise ClosedError
            return {"frameTree": self._page.tree}
        else:
            assert arguments is not None
            if self._devtools.is_closed:
                raise ClosedError
            self._devtools.ends[arguments["requestId"]] = arguments.get("errorReason")
        return {}

    async def detach(self) -> None:
        self.is_detached = True


class Page:
    """A page, which is its own context."""

    def __init__(self, devtools: DevTools, frame: str) -> None:
        self._devtools = devtools
        self.frame = frame
        self.context = self
        self.tree: Event = {"frame": {"id": frame}}
        self.is_closed = False
        self.sessions: list[Session] = []
        self._on_close: list[Callable[[object], Any]] = []
        devtools.targets[frame] = {"type": "page"}

    async def new_cdp_session(self, page: Page) -> Session:
        self.sessions.append(Session(self._devtools, page))
        return self.sessions[-1]

    def once(self, event: str, call: Callable[[object], Any]) -> None:
        assert event == "close"
        self._on_close.append(call)

    def close(self) -> None:
        self.is_closed = True
        for call in self._on_close:
            call(self)


class DevTools:
    """The browser, as its protocol shows it."""

    def __init__(self) -> None:
        self.targets: dict[str, Event] = {}
        self.ends: dict[str, str | None] = {}
        """Requests that have gone on, with None, or ended with an error."""
        self.pattern: Event = {}
        self.is_closed = False
        self.on_paused: Callable[[Event], Any]

    async def new_browser_cdp_session(self) -> Session:
        return Session(self)

    async def request(
        self, url: str, frame: str, kind: str = "Document", *, network: bool = True
    ) -> str | None:
        """The error that a request ends with; None: it goes on."""
        event = {
            "requestId": url,
            "frameId": frame,
            "resourceType": kind,
            "request": {"url": url},
            **({"networkId": "1"} if network else {}),
        }
        await self.on_paused(event)
        return self.ends.pop(url, "no end")


class Guard:
    """Allows what is not below ``/no``; the questions are noted."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Visit | None, bool]] = []

    async def allows(self, url: str, visit: Visit | None, *, navigates: bool) -> bool:
        self.asked.append((url.removeprefix(SITE), visit, navigates))
        if "error" in url:
            raise ValueError("in the guard")
        return "/no" not in url


class Browsing:
    """A browser with a page for ``/page``, whose id is ``main``."""

    def __init__(self, *, every: bool) -> None:
        self.devtools, self.guard = DevTools(), Guard()
        self.visit = Visit(Request(f"{SITE}/page"), ("a",))
        self.page = Page(self.devtools, "main")
        self.every = every

    async def open(self) -> Browsing:
        self.chromium = await Chromium.attach(
            self.devtools, cast("Any", self.guard), every=self.every
        )
        await self.chromium.add_page(self.page, self.visit)
        return self

    async def ends(self, path: str, frame: str = "main", kind: str = "Document") -> str | None:
        return await self.devtools.request(f"{SITE}{path}", frame, kind)


@pytest.mark.parametrize("every", [False, True])
def test_pages_are_checked_always_and_the_rest_if_wanted(every: bool) -> None:
    async def work() -> None:
        browsing = await Browsing(every=every).open()
        assert ("resourceType" in browsing.devtools.pattern) is not every
        browsing.devtools.targets["inner"] = {"type": "iframe", "parentFrameId": "main"}
        assert await browsing.ends("/page") is None, "the middleware has decided about it"
        assert browsing.guard.asked == []
        assert await browsing.ends("/yes") is None
        assert await browsing.ends("/no") == "BlockedByClient"
        blocked = "BlockedByClient" if every else None
        assert await browsing.ends("/no/image", kind="Image") == blocked
        assert await browsing.ends("/no/frame", "inner") == blocked
        assert await browsing.ends("/no/gone", "without a target") == blocked
        visit = browsing.visit
        navigations = [("/yes", visit, True), ("/no", visit, True)]
        others = [(f"/no/{name}", visit, False) for name in ("image", "frame", "gone")]
        assert browsing.guard.asked == navigations + (others if every else [])
        visit.is_open = False
        assert await browsing.ends("/no") == "Aborted", "the page stays for its spider"

    asyncio.run(work())


def test_a_window_and_a_download_are_no_navigations_of_the_page() -> None:
    async def work() -> None:
        browsing = await Browsing(every=False).open()
        browsing.devtools.targets["window"] = {"type": "page", "openerId": "main"}
        assert await browsing.ends("/no/window", "window") == "Aborted"
        url = f"{SITE}/no/file"
        assert await browsing.devtools.request(url, "main", network=False) == "Aborted"
        assert await browsing.devtools.request(f"{SITE}/yes", "main", network=False) is None
        assert [navigates for _, _, navigates in browsing.guard.asked] == [False] * 3

    asyncio.run(work())


@pytest.mark.parametrize(
    ("frame", "found"),
    [("deep", "two"), ("in tree", "two"), ("window", "one"), ("nobody's", None), ("loop", None)],
)
def test_a_request_belongs_to_the_page_that_its_frame_leads_to(
    frame: str, found: str | None
) -> None:
    """By openers and parents; a frame without a target is looked for in the pages' trees."""

    async def work() -> None:
        browsing = await Browsing(every=True).open()
        other, gone = Page(browsing.devtools, "other"), Page(browsing.devtools, "gone")
        visits = {
            name: Visit(Request(f"{SITE}/{name}"), (name,)) for name in ("one", "two", "three")
        }
        browsing.chromium._tabs.clear()
        for page, name in ((browsing.page, "one"), (gone, "three"), (other, "two")):
            await browsing.chromium.add_page(page, visits[name])
        gone.is_closed = True
        targets = browsing.devtools.targets
        targets["deep"] = {"type": "iframe", "parentFrameId": "middle"}
        targets["middle"] = {"type": "iframe", "parentFrameId": "other"}
        targets["window"] = {"type": "page", "openerId": "main"}
        targets["nobody's"] = {"type": "service_worker"}
        targets["loop"] = {"type": "iframe", "parentFrameId": "loop"}
        other.tree["childFrames"] = [
            {"frame": {"id": "x"}},
            {"frame": {"id": "y"}, "childFrames": [{"frame": {"id": "in tree"}}]},
        ]
        await browsing.ends("/yes", frame, "Image")
        assert browsing.guard.asked == [("/yes", visits.get(found or ""), False)]

    asyncio.run(work())


def test_pages_with_the_same_tokens_need_no_search() -> None:
    async def work() -> None:
        browsing = await Browsing(every=True).open()
        await browsing.chromium.add_page(Page(browsing.devtools, "other"), browsing.visit)
        await browsing.ends("/yes", "unknown", "Image")
        ((url, visit, navigates),) = browsing.guard.asked
        assert visit is not None
        assert (url, visit.request, navigates) == ("/yes", browsing.visit.request, False)
        assert visit.shown == "a page"
        await browsing.ends("/yes", "main", "Image")
        assert browsing.guard.asked[-1][1] is browsing.visit, "it is named by its URL"
        exempt = Visit(Request(SITE, meta={"dont_obey_robotstxt": True}), ("a",))
        await browsing.chromium.add_page(Page(browsing.devtools, "third"), exempt)
        await browsing.ends("/yes", "unknown", "Image")
        assert browsing.guard.asked[-1] == ("/yes", None, False)

    asyncio.run(work())


def test_a_page_that_is_used_again_has_one_session_until_it_closes() -> None:
    async def work() -> None:
        browsing = await Browsing(every=False).open()
        again = Visit(Request(f"{SITE}/again"), ("a",))
        await browsing.chromium.add_page(browsing.page, again)
        assert [session.is_detached for session in browsing.page.sessions] == [False, True]
        assert await browsing.ends("/again") is None
        assert browsing.guard.asked == []
        browsing.page.close()
        assert browsing.chromium._tabs == {}

    asyncio.run(work())


def test_an_error_blocks_and_a_closed_browser_needs_no_reply(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work() -> None:
        browsing = await Browsing(every=False).open()
        assert await browsing.ends("/error") == "BlockedByClient"
        assert caplog.messages == [f"Aborted in the browser: {SITE}/error"]
        browsing.devtools.is_closed = True
        assert await browsing.ends("/yes") == "no end"

    asyncio.run(work())
