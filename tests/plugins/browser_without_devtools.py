"""The spiders with a browser that has no DevTools protocol, as Firefox and WebKit."""

from __future__ import annotations

from typing import NoReturn

from playwright.async_api import Browser, Error

from tests.plugins import browser_spiders


class Browsing(browser_spiders.Browsing):
    """In this module Scrapy finds it."""


async def no_session(self: Browser) -> NoReturn:
    """The error that playwright raises for these browsers."""
    raise Error("Browser.new_browser_cdp_session: CDP session is only available in Chromium")


Browser.new_browser_cdp_session = no_session  # type: ignore[method-assign,unused-ignore]
