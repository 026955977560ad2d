"""Spiders of the tests with scrapy-playwright."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from playwright.async_api import Error
from scrapy import Request
from scrapy.http import Response
from scrapy_playwright.page import PageMethod

from tests.support.spiders import Noting


class Browsing(Noting):
    """Opens the job's requests in a browser; ``methods`` in their meta are called on the page."""

    name = "browsing"

    async def start(self) -> AsyncIterator[Request]:
        for entry in self.job["requests"]:
            request = self.request(entry)
            request.meta["playwright"] = True
            methods = request.meta.pop("methods", [["wait_for_timeout", 600]])
            request.meta["playwright_page_methods"] = [PageMethod(*each) for each in methods]
            yield request


class Steering(Browsing):
    """Keeps the page of a response, goes to the job's ``goals`` itself, then uses it again."""

    name = "steering"

    async def got(self, response: Response) -> Any:
        super().got(response)
        page = response.meta.get("playwright_page")
        if page is None:
            return
        for goal in self.job["goals"]:
            self.note("steered", url=goal, end=await self.end_of(page, goal))
        if self.job.get("again"):
            meta = {"playwright": True, "playwright_page": page}
            yield Request(self.job["again"], self.got_again, errback=self.failed, meta=meta)
        else:
            await page.close()

    async def end_of(self, page: Any, url: str) -> str:
        """The status of *url* in *page*, or playwright's error."""
        try:
            return str((await page.goto(url)).status)
        except Error as error:
            return str(error.message).partition("\n")[0]

    def got_again(self, response: Response) -> Any:
        """Note the response on the page that was used before."""
        super().got(response)


class ForEveryRequest:
    """Downloader middleware that wants a browser for all requests."""

    def process_request(self, request: Request, spider: Any = None) -> None:
        """Want it for *request*."""
        request.meta["playwright"] = True


def no_images(request: Any) -> bool:
    """A predicate of the user."""
    return bool(request.resource_type == "image")


async def no_scripts(request: Any) -> bool:
    """A predicate of the user, as a coroutine."""
    return bool(request.resource_type == "script")


def token_by_path(request: Request, crawler: Any) -> str:
    """The product token of a page: the first part of its path."""
    return request.url.split("/")[3]


async def on_page(page: Any, request: Request) -> None:
    """An init callback of the user."""
    await page.add_init_script("window.seen = true")
