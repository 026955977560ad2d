"""Addon: the only wiring between this package and a Scrapy project.

It checks the settings, puts the middleware into the place of Scrapy's own, and makes the scheduler
keep waiting requests in their queues. It keeps the components that users have chosen.
"""

from __future__ import annotations

import logging
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.python import global_object_name

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.exceptions import in_one_line
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.scheduling.priority_queue import waiting_queue
from scrapy_robotspec.plugin.settings.settings import ENABLE, Settings
from scrapy_robotspec.protocol.robotstxt import USE_PARSER
from scrapy_robotspec.store import MEMORY

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger("scrapy_robotspec")

_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
POSITION = 100
#: The middleware of a crawl and of a dry run, which take the same place.
_REAL = "scrapy_robotspec.RobotSpecMiddleware"
_REHEARSED = "scrapy_robotspec.plugin.dry_run.DryRunMiddleware"


class Addon:
    """``ADDONS = {"scrapy_robotspec.Addon": 500}``, beside ``ROBOTSTXT_OBEY = True``."""

    @classmethod
    @in_one_line
    def from_crawler(cls, crawler: Crawler, *robotstxt_body: bytes) -> Self:
        """Raise ``ConfigurationError`` where another component is made of it."""
        if robotstxt_body:
            raise ConfigurationError(USE_PARSER)
        settings = crawler.settings  # frozen when Scrapy makes others than extensions
        if settings.frozen or _compat.take_component(settings.getdict("EXTENSIONS"), cls):
            raise ConfigurationError(f"scrapy_robotspec.Addon is an add-on: {ENABLE}")
        return cls()

    def __repr__(self) -> str:
        return "scrapy_robotspec.Addon"

    @in_one_line
    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy. Raises ``ConfigurationError`` for a wrong setting of ours.

        Running it again changes nothing.
        """
        if not settings.getbool("ROBOTSTXT_OBEY"):
            from scrapy_robotspec.plugin.settings.checks import log_switched_off

            log_switched_off(settings)
            return
        checked = check_settings(settings)
        alike = [name for name in map(str, settings) if name.upper().startswith(("ROB", "RBO"))]
        if given := [name for name in alike if not hasattr(default_settings, name)]:
            from scrapy_robotspec.plugin.settings.checks import surprises

            for surprise in surprises(given, checked):
                logger.warning("%s.", surprise)
        if settings.get("JOBDIR"):
            from scrapy_robotspec.plugin.settings.checks import warn_of_old_job

            warn_of_old_job(settings)
        if not _replace_middleware(settings, _REHEARSED if checked.dry_run else _REAL):
            return
        if checked.dry_run:
            logger.info(
                "ROBOTSPEC_DRY_RUN is on: Scrapy's own middleware decides, differences are "
                "counted, and each robots.txt is fetched once more."
            )
        else:
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
        if not _compat.uses_twisted(settings):
            from scrapy_robotspec.plugin import _compat_rare

            _compat_rare.add_connections(settings, checked.most_fetches)


def check_settings(settings: BaseSettings) -> Settings:
    """Raise the errors of the middleware early, before other tracebacks hide them."""
    checked = Settings.from_scrapy(settings)
    if checked.cache != MEMORY:
        from scrapy_robotspec.store.uri import open_store

        open_store(checked.cache, checked.cache_schemes)
    return checked


def _replace_middleware(settings: BaseSettings, name: str) -> bool:
    """Ours, *name*, for Scrapy's. False: the user has switched ours off, so Scrapy's stays."""
    chosen = settings.getdict(_MIDDLEWARES)
    own = [key for key in chosen if key == name or _compat.is_component(key, RobotSpecMiddleware)]
    if own and chosen[own[0]] is None:
        logger.warning(
            "The add-on scrapy_robotspec.Addon is on and its RobotSpecMiddleware switched off "
            "in %s: Scrapy's own robots.txt middleware is left in place.",
            _MIDDLEWARES,
        )
        return False
    moved_to = _compat.take_component(chosen, RobotsTxtMiddleware)
    if own:  # its place among equal numbers is the user's, too
        others = {key: place for key, place in chosen.items() if key not in own[1:]}
        chosen = {name if key == own[0] else key: place for key, place in others.items()}
    else:
        position = next((place for place in moved_to if place is not None), POSITION)
        chosen = {name: _before_equals(settings, chosen, position), **chosen}
    # Before Scrapy 2.15 only this very text switches off the text in DOWNLOADER_MIDDLEWARES_BASE.
    # From 2.15 on a class beside it would be one middleware named twice.
    chosen[STOCK] = None
    settings.set(_MIDDLEWARES, chosen, settings.getpriority(_MIDDLEWARES) or 0)
    return True


def _before_equals(settings: BaseSettings, chosen: dict[Any, Any], position: float) -> float:
    """The number at which ours stands before all that Scrapy's own at *position* stood before.

    Scrapy puts its own components before others of the same number.
    """
    places = settings.getdict(f"{_MIDDLEWARES}_BASE")
    names = list(places)
    places |= {
        key if isinstance(key, str) else global_object_name(key): place
        for key, place in chosen.items()
    }
    behind = names[names.index(STOCK) + 1 :] if STOCK in names else names
    is_tied = any(places[name] == position for name in behind)
    return nextafter(position, -inf) if is_tied else position
