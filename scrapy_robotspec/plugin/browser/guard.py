"""BrowserGuard: decides about the requests of browsers, and counts.

``chromium.py`` and ``handler.py`` pause requests and ask here. scrapy-playwright may run in a
thread with a loop of its own; decisions are made in the loop of the crawl.
"""

from __future__ import annotations

import asyncio
import logging
import time
from copy import copy
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin._compat_rare import with_url
from scrapy_robotspec.plugin.deciding.request_policy import Answer
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.reporting.stats import shown_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.settings.composite import Tokens

logger = logging.getLogger("scrapy_robotspec")

#: Playwright's navigation timeout without a setting (milliseconds).
_NAVIGATION_TIMEOUT = 30_000.0
#: Part of the navigation timeout that a check may take: it has to end before the navigation.
_PART = 0.8


#: A navigation that was refused, and why.
Refusal = tuple[Request, Answer]


class Visit:
    """*tokens* are those that *request* was let through with."""

    def __init__(self, request: Request, tokens: Tokens) -> None:
        self.page = request
        """The page's own request, which counts."""
        # It keeps its tokens once there is a response.
        self.request = with_url(request, request.url)
        self.exempt = bool(request.meta.get("dont_obey_robotstxt"))  # APP-01
        self.tokens = tokens
        self.shown = shown_url(request.url)
        self.refusal: Refusal | None = None
        """The first refused navigation of the page's main frame during the download."""
        self.is_open = True
        """Whether the download goes on; afterwards the page belongs to the spider."""
        self.checks: list[asyncio.Future[bool]] = []
        """About navigations of the main frame: one may begin while the contents are read."""
        self._begun = False

    def begins_at(self, url: str) -> bool:
        """Whether this is the page's first navigation, and the request itself."""
        begun, self._begun = self._begun, True
        return not begun and url == urldefrag(self.request.url).url

    def of_a_page(self) -> Visit:
        """The same for a request of a page that is not known."""
        other = copy(self)
        other.shown = "a page"
        return other

    def note_refusal(self, refusal: Refusal) -> None:
        """Note a refused navigation, unless the download has ended."""
        if self.is_open and self.refusal is None:
            self.refusal = refusal


class BrowserGuard:
    """The guard of one download handler; the middleware of *crawler* decides."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._loop: asyncio.AbstractEventLoop | None = None

    async def download(self, visit: Visit, send: Callable[[], Awaitable[Response]]) -> Response:
        """The response of *send*.

        Raises ``ForbiddenByRobots`` or ``RobotsUnreachable`` if a navigation was refused.
        """
        try:
            response = await send()
        finally:
            if visit.checks:
                await asyncio.wait(visit.checks)
            visit.is_open = False  # later refusals do not end the request
            if visit.refusal is not None:
                raise self._obeying.refuse(visit.page, *visit.refusal)
        return response

    def visit(self, request: Request) -> Visit:
        """The visit for *request*; called in the loop of the crawl."""
        self._loop = asyncio.get_running_loop()
        exempt = self._obeying.robots.policy.origin(request) is None
        return Visit(request, () if exempt else self._obeying.robots.tokens.select(request))

    async def allows(self, url: str, visit: Visit | None, *, navigates: bool) -> bool:
        """Whether a page may load *url*; waits up to :attr:`max_wait`.

        *navigates*: the page's main frame goes there. Without a *visit* the crawl's own tokens
        apply.
        """
        deciding, loop = self._decide(url, visit, navigates), self._loop
        if loop is None or loop is asyncio.get_running_loop():
            return await deciding
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(deciding, loop))

    async def _decide(self, url: str, visit: Visit | None, navigates: bool) -> bool:
        deciding = asyncio.ensure_future(self._allows(url, visit, navigates))
        if visit is not None and navigates:
            visit.checks.append(deciding)
        return await deciding

    async def _allows(self, url: str, visit: Visit | None, navigates: bool) -> bool:
        """Decide about *url*, and count."""
        robots = self._obeying.robots
        request = Request(url) if visit is None else with_url(visit.request, url)
        origin = robots.policy.origin(request)
        if origin is None:
            return True
        self._stats.inc_value("robotspec/browser/checked")
        answer = await self._answer(origin, request)
        if answer.decision.allowed:
            return True
        self._stats.inc_value("robotspec/browser/aborted")
        page = "a page" if visit is None else visit.shown
        reason = answer.decision.detail
        logger.debug("Aborted in the browser, for %s: %s (%s)", page, shown_url(url), reason)
        if visit is not None and navigates:
            visit.note_refusal((request, answer))
        return False

    async def _answer(self, origin: Origin, request: Request) -> Answer:
        """The decision about *request*; without a robots.txt in time it is refused."""
        robots = self._obeying.robots
        try:
            # Asked again after a wait, so that rules decide that are in force now.
            while isinstance(answer := robots.decide_now(origin, request, time.time()), Pending):
                await asyncio.wait_for(robots.decide_later(origin, request), self.max_wait)
        except asyncio.TimeoutError:  # the builtin one only from Python 3.11 on
            failure = f"no answer within {self.max_wait:g} s, while the browser waited"
            answer = _unanswered(origin, failure)
        except IgnoreRequest as error:  # the spider closes
            answer = _unanswered(origin, str(error))
        except ConfigurationError as error:  # of the user's function: the tokens are unknown
            logger.error("Aborted in the browser: %s: %s", shown_url(request.url), error)
            return _unanswered(origin, str(error))
        robots.note_decision(request, answer, "browser")
        return answer

    @property
    def max_wait(self) -> float:
        """Max wait of a browser's request for a robots.txt (seconds)."""
        given = self._crawler.settings.get("PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT")
        navigation = float(_NAVIGATION_TIMEOUT if given is None else given) / 1000 * _PART
        fetch = self._obeying.robots.settings.fetch_timeout
        return min(fetch, navigation) if navigation else fetch

    @property
    def _obeying(self) -> RobotSpecMiddleware:
        middleware = self._crawler.get_downloader_middleware(RobotSpecMiddleware)
        assert middleware is not None, "the add-on enables both"
        return middleware


def _unanswered(origin: Origin, failure: str) -> Answer:
    """The refusal of a request that *origin* did not answer in time for."""
    decision = Decision(allowed=False, reason="unreachable", origin=origin, failure=failure)
    return Answer(decision, None)
