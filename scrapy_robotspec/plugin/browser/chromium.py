"""Chromium: pauses the requests of a browser by its DevTools protocol.

The ``Fetch`` domain of the browser itself (not of a page) pauses every request: of pages that
scripts open, of frames in other processes, of workers, and each hop of a redirect, which
playwright's routes do not see. Requests get here after the routes, so what the user's own
predicate aborts is not checked.

``Fetch``, ``Target``, ``Page``: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.plugin.reporting.stats import shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Visit

logger = logging.getLogger("scrapy_robotspec")

Event = dict[str, Any]

#: Ends a request with an error page, at once; scrapy-playwright takes no other for a download.
_BLOCKED = "BlockedByClient"
#: Ends a navigation so that the page stays as it is.
_ABORTED = "Aborted"
#: Windows that opened windows, and frames in frames, are followed up to this number.
_MAX_DEPTH = 20


class _Tab(NamedTuple):
    visit: Visit
    session: Any


@dataclass(eq=False)
class Chromium:
    """Asks *guard* about the requests of one browser.

    *session* is a DevTools session of the browser itself. *every*: check more than navigations.
    """

    session: Any
    guard: BrowserGuard
    every: bool
    _tabs: dict[str, _Tab] = field(default_factory=dict)

    @classmethod
    async def attach(cls, browser: Any, guard: BrowserGuard, *, every: bool) -> Chromium:
        """Pause the requests of *browser* from now on."""
        session = await browser.new_browser_cdp_session()
        chromium = cls(session, guard, every=every)
        session.on("Fetch.requestPaused", chromium._on_paused)
        pattern = {"urlPattern": "*", "requestStage": "Request"}
        if not every:
            pattern["resourceType"] = "Document"
        await session.send("Fetch.enable", {"patterns": [pattern]})
        return chromium

    async def add_page(self, page: Any, visit: Visit) -> None:
        """*page* is opened, or used again, for *visit*."""
        session = await page.context.new_cdp_session(page)
        target = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        if target in self._tabs:
            await session.detach()
            session = self._tabs[target].session
        else:
            page.once("close", lambda _: self._tabs.pop(target, None))
        self._tabs[target] = _Tab(visit, session)

    # --- paused requests

    async def _on_paused(self, event: Event) -> None:
        """Let a paused request go, or end it."""
        try:
            error = await self._error(event)
        except Exception:
            logger.exception("Aborted in the browser: %s", shown_url(event["request"]["url"]))
            error = _BLOCKED
        method, arguments = "Fetch.continueRequest", {"requestId": event["requestId"]}
        if error is not None:
            method, arguments = "Fetch.failRequest", {**arguments, "errorReason": error}
        with suppress(Exception):  # playwright's: the page or the browser was closed meanwhile
            await self.session.send(method, arguments)

    async def _error(self, event: Event) -> str | None:
        """The error that a paused request ends with; None lets it go."""
        frame, url = event["frameId"], event["request"]["url"]
        navigates = event["resourceType"] == "Document" and await self._is_main(frame)
        if not (navigates or self.every):
            return None
        tab = self._tabs.get(frame)
        # Not navigations of the page: what a window requests that it has opened, and a download
        # by a link, which has no network id.
        if tab is None or not navigates or "networkId" not in event:
            allowed = await self.guard.allows(url, await self._visit(frame), navigates=False)
            return None if allowed else _ABORTED if navigates else _BLOCKED
        if tab.visit.begins_at(url):  # the middleware has decided about it
            return None
        if await self.guard.allows(url, tab.visit, navigates=True):
            return None
        return _BLOCKED if tab.visit.is_open else _ABORTED

    # --- which page

    async def _is_main(self, frame: str) -> bool:
        """Whether *frame* is a main frame, whose id is that of its page."""
        if frame in self._tabs:
            return True
        target = await self._target(frame)
        return target is not None and target["type"] == "page"

    async def _target(self, frame: str) -> Event | None:
        """The target *frame*: a page, a worker, a frame of another site."""
        with suppress(Exception):  # playwright's: no target has this id
            sent = await self.session.send("Target.getTargetInfo", {"targetId": frame})
            found: Event = sent["targetInfo"]
            return found
        return None

    async def _visit(self, frame: str) -> Visit | None:
        """The visit that *frame* belongs to; None if that is unknown."""
        visits = [tab.visit for tab in self._tabs.values()]
        alike = len({(visit.tokens, visit.exempt) for visit in visits}) == 1
        if alike and frame not in self._tabs:  # which of them makes no difference
            return visits[0] if len(visits) == 1 else visits[0].of_a_page()
        for _ in range(_MAX_DEPTH):  # openers and parents lead to a page of the crawl
            if frame in self._tabs:
                return self._tabs[frame].visit
            target = await self._target(frame)
            if target is None:
                return await self._search_trees(frame)
            frame = target.get("openerId") or target.get("parentFrameId") or ""
        return None

    async def _search_trees(self, frame: str) -> Visit | None:
        """The page that has *frame* among its frames."""
        for tab in list(self._tabs.values()):
            with suppress(Exception):  # playwright's: the page was closed meanwhile
                tree = (await tab.session.send("Page.getFrameTree"))["frameTree"]
                if frame in _frames(tree):
                    return tab.visit
        return None


def _frames(tree: Event) -> Iterator[str]:
    """The ids of all frames of a frame tree."""
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", ()):
        yield from _frames(child)
