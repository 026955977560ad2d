"""Addon: the only wiring between this package and a Scrapy project.

It checks the settings, puts the middleware into the place of Scrapy's own, and makes the scheduler
keep waiting requests in their queues. It keeps the components that users have chosen.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.python import global_object_name

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.scheduling.priority_queue import waiting_queue
from scrapy_robotspec.plugin.settings.settings import ENABLE, Settings
from scrapy_robotspec.store import MEMORY

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger("scrapy_robotspec")

_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
POSITION = 100


class Addon:
    """``ADDONS = {"scrapy_robotspec.Addon": 500}``, beside ``ROBOTSTXT_OBEY = True``."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raise ``ConfigurationError`` where another component is made of it."""
        settings = crawler.settings  # frozen when Scrapy makes others than extensions
        if settings.frozen or _compat.take_component(settings.getdict("EXTENSIONS"), cls):
            raise ConfigurationError(f"scrapy_robotspec.Addon is an add-on: {ENABLE}")
        return cls()

    def __repr__(self) -> str:
        return "scrapy_robotspec.Addon"

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy. Raises ``ConfigurationError`` for a wrong setting of ours.

        Running it again changes nothing.
        """
        if not settings.getbool("ROBOTSTXT_OBEY"):
            from scrapy_robotspec.plugin.settings.checks import log_switched_off

            log_switched_off(settings)
            return
        checked = check_settings(settings)
        alike = [name for name in map(str, settings) if name.upper().startswith("ROBO")]
        if given := [name for name in alike if not hasattr(default_settings, name)]:
            from scrapy_robotspec.plugin.settings.checks import surprises

            for surprise in surprises(given, checked):
                logger.warning("%s.", surprise)
        if checked.dry_run:
            from scrapy_robotspec.plugin import dry_run

            dry_run.install(settings, STOCK, POSITION)
        elif _replace_middleware(settings):
            # Where the user has chosen another scheduler or queue, it stays as it is: requests wait
            # in the middleware, at most ROBOTSPEC_MAX_PARKED.
            if (queue := waiting_queue(settings)) is not None:
                name = global_object_name(queue)  # as the log shows settings
                _compat.set_by_addon(settings, "SCHEDULER_PRIORITY_QUEUE", name)
            if checked.browser != "off" and settings.getdict("DOWNLOAD_HANDLERS"):
                from scrapy_robotspec.plugin.settings.checks import unchecked_browsers

                if handlers := unchecked_browsers(settings):
                    from scrapy_robotspec.plugin.browser.handler import guard_browsers

                    guard_browsers(settings, handlers)
        else:
            return
        _compat.add_connections(settings, checked.most_fetches)


def check_settings(settings: BaseSettings) -> Settings:
    """Raise the errors of the middleware early, before other tracebacks hide them."""
    checked = Settings.from_scrapy(settings)
    if checked.cache != MEMORY:
        from scrapy_robotspec.store.uri import open_store

        open_store(checked.cache, checked.cache_schemes)
    return checked


def _replace_middleware(settings: BaseSettings) -> bool:
    """Ours for Scrapy's. False: the user has switched ours off, so Scrapy's stays."""
    chosen = settings.getdict(_MIDDLEWARES)
    own = _compat.take_component(chosen, RobotSpecMiddleware)
    if own and own[0] is None:
        logger.warning(
            "The add-on scrapy_robotspec.Addon is on and its RobotSpecMiddleware switched off "
            "in %s: Scrapy's own robots.txt middleware is left in place.",
            _MIDDLEWARES,
        )
        return False
    moved_to = _compat.take_component(chosen, RobotsTxtMiddleware)
    # Before Scrapy 2.15 only this very text switches off the text in DOWNLOADER_MIDDLEWARES_BASE.
    # From 2.15 on a class beside it would be one middleware named twice.
    chosen[STOCK] = None
    positions = [position for position in own + moved_to if position is not None]
    chosen["scrapy_robotspec.RobotSpecMiddleware"] = positions[0] if positions else POSITION
    settings.set(_MIDDLEWARES, chosen, settings.getpriority(_MIDDLEWARES) or 0)
    return True
