"""Idea 12: a page in a browser leads on by itself, and robots.txt holds for that, too."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from example.base import ExampleSpider
from example.browser import chromium, missing

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


class BrowserSpider(ExampleSpider):
    """Downloads pages through Chromium: one redirects, and a script in another one moves on.

    Both lead to a page that robots.txt disallows. The browser does not request it, and the request
    that led there ends with ``ForbiddenByRobots``. Needs scrapy-playwright and Chromium.
    """

    name = "robots_12_browser"
    cases = ("browser",)
    custom_settings = {
        "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    }

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Scrapy's entry: name the browser, or stop with a message."""
        lack = missing()
        if lack is not None:
            raise UsageError(f"{cls.name} cannot run: {lack}", print_help=False)
        # It logs a traceback for each navigation that is refused.
        logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)
        super().update_settings(settings)
        path = chromium()
        if path is not None:
            settings.set("PLAYWRIGHT_LAUNCH_OPTIONS", {"executable_path": path}, "spider")

    def page(self, url: str, **arguments: Any) -> Request:
        """A request for the browser, which lets the scripts of a page run."""
        from scrapy_playwright.page import PageMethod  # other spiders run without it

        methods = [PageMethod("wait_for_timeout", 500)]
        meta = {"playwright": True, "playwright_page_methods": methods}
        return super().page(url, meta=meta, **arguments)

    def refused(self, failure: Failure) -> None:
        """Keep a page that was refused, and what it led to."""
        decision = getattr(failure.value, "decision", None)
        url = failure.request.url
        if decision is not None and "/private/" not in url:
            self.refuse(f"{url} leads on and", decision)
        else:
            super().refused(failure)
