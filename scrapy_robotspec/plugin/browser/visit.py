"""Visit: a Scrapy request whose page is open in a browser."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag

from scrapy_robotspec.plugin.deciding.final_url import redirected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.settings.tokens import Tokens


class Refusal(NamedTuple):
    """A navigation that was refused."""

    request: Request
    decision: Decision
    found: Resolved | None


class Visit:
    """*tokens* are those that *request* was let through with."""

    def __init__(self, request: Request, tokens: Tokens) -> None:
        self.request = request
        self.exempt = bool(request.meta.get("dont_obey_robotstxt"))  # APP-01
        self.tokens = tokens
        self.refusal: Refusal | None = None
        """The first refused navigation of the page's main frame during the download."""
        self.is_open = True
        """Whether the download goes on; afterwards the page belongs to the spider."""
        self._begun = False
        self._checks: set[asyncio.Future[None]] = set()

    def at(self, url: str) -> Request:
        """The request redirected to *url*: it keeps its tokens."""
        return redirected(self.request, url)

    def begins_at(self, url: str) -> bool:
        """Whether this is the page's first navigation, and the request itself."""
        begun, self._begun = self._begun, True
        return not begun and url == urldefrag(self.request.url).url

    def refuse(self, refusal: Refusal) -> None:
        """Note a refused navigation, unless the download has ended."""
        if self.is_open and self.refusal is None:
            self.refusal = refusal

    @contextmanager
    def checking(self) -> Iterator[None]:
        """A navigation of the main frame is being checked."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._checks.add(done)
        try:
            yield
        finally:
            self._checks.discard(done)
            done.set_result(None)

    async def checked(self) -> None:
        """Wait for checks in progress.

        A page may begin to navigate while its contents are read.
        """
        if self._checks:
            await asyncio.wait(self._checks)

    def close(self) -> None:
        """End the download: later refusals do not end the request."""
        self.is_open = False
