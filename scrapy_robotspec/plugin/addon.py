"""Addon: the only wiring between this package and a Scrapy project.

It checks the settings, puts the middleware into the place of Scrapy's own, and makes the scheduler
keep waiting requests in their queues. It keeps the components that users have chosen.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from scrapy_robotspec.converters import wrong
from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.scheduling.priority_queue import (
    WaitingGlobalQueue,
    WaitingPriorityQueue,
)
from scrapy_robotspec.plugin.settings.checks import (
    ENABLE,
    browser_handlers,
    conflicting_settings,
    replaced_queue,
)
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.store import open_store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

logger = logging.getLogger("scrapy_robotspec")

_HANDLERS = "DOWNLOAD_HANDLERS"
_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
_STOCK_PATH = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
_POSITION = 100
_IMPORTS_REACTOR = (
    "a function whose module does not import twisted.internet.reactor: Scrapy has not installed "
    "its own yet, so import it inside of the function"
)


class Addon:
    """``ADDONS = {"scrapy_robotspec.Addon": 500}``, beside ``ROBOTSTXT_OBEY = True``."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raise ``ConfigurationError`` where a middleware is made of it."""
        if crawler.settings.frozen:
            raise ConfigurationError(f"scrapy_robotspec.Addon is not a middleware: {ENABLE}")
        return cls()

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy. Raises ``ConfigurationError`` for a wrong setting of ours.

        Running it again changes nothing.
        """
        if not settings.getbool("ROBOTSTXT_OBEY"):
            logger.warning(
                "The add-on scrapy_robotspec.Addon is on and ROBOTSTXT_OBEY is off: "
                "no robots.txt is obeyed. Set ROBOTSTXT_OBEY = True."
            )
            return
        checked = check_settings(settings)
        if checked.dry_run:
            _install_dry_run(settings)
            _compat.add_connections(settings, checked.most_fetches)
        elif _replace_middleware(settings):
            _install_waiting(settings)
            if checked.browser != "off":
                _install_browser_checks(settings)
            _compat.add_connections(settings, checked.most_fetches)
            for problem in conflicting_settings(checked):
                logger.warning("%s.", problem)


def check_settings(settings: BaseSettings) -> Settings:
    """Raise the errors of the middleware early.

    Later they would stand in the midst of other tracebacks.
    """
    had_reactor = _compat.is_reactor_installed()
    checked = Settings.from_scrapy(settings, warn=False)  # of unknown names the middleware warns
    if not had_reactor and _compat.is_reactor_wrong(settings):
        name = "ROBOTSPEC_USER_AGENT_TOKEN"
        raise wrong(name, settings[name], _IMPORTS_REACTOR)
    with suppress(StoreError):  # that is not the user's fault, and no reason to stop
        open_store(checked.cache).close()
    return checked


def _replace_middleware(settings: BaseSettings) -> bool:
    """Ours for Scrapy's. False: the user has switched ours off, so Scrapy's stays."""
    chosen = settings.getdict(_MIDDLEWARES)
    own = [position for key, position in chosen.items() if _is(key, RobotSpecMiddleware)]
    if own and own[0] is None:
        logger.warning(
            "The add-on scrapy_robotspec.Addon is on and its RobotSpecMiddleware switched off "
            "in %s: Scrapy's own robots.txt middleware is left in place.",
            _MIDDLEWARES,
        )
        return False
    stock_keys = [key for key in chosen if _is(key, RobotsTxtMiddleware)]
    moved_to = [chosen.pop(key) for key in stock_keys]
    # Before Scrapy 2.15 only this very text switches off the text in DOWNLOADER_MIDDLEWARES_BASE.
    # From 2.15 on a class beside it would be one middleware named twice.
    chosen[_STOCK_PATH] = None
    if not own:
        positions = [position for position in moved_to if position is not None]
        chosen[RobotSpecMiddleware] = positions[0] if positions else _POSITION
    settings.set(_MIDDLEWARES, chosen, settings.getpriority(_MIDDLEWARES) or 0)
    return True


def _install_dry_run(settings: BaseSettings) -> None:
    """Ours behind Scrapy's own, which decides wherever one of both has been put."""
    from scrapy_robotspec.plugin.dry_run import DryRunMiddleware

    chosen = settings.getdict(_MIDDLEWARES)
    own = [chosen.pop(key) for key in list(chosen) if _is(key, RobotSpecMiddleware)]
    stock = [key for key in chosen if _is(key, RobotsTxtMiddleware)]
    if own:  # it was switched off for ours
        for key in stock:
            if chosen[key] is None:
                del chosen[key]
    elif stock and chosen[stock[0]] is None:
        logger.warning(
            "ROBOTSPEC_DRY_RUN is on and Scrapy's own robots.txt middleware switched off in %s: "
            "every request counts as let through by it.",
            _MIDDLEWARES,
        )
    positions = [chosen[key] for key in stock if chosen.get(key) is not None]
    if not any(_is(key, DryRunMiddleware) for key in chosen):
        chosen[DryRunMiddleware] = (positions[0] if positions else _POSITION) + 1
    settings.set(_MIDDLEWARES, chosen, settings.getpriority(_MIDDLEWARES) or 0)
    logger.info(
        "ROBOTSPEC_DRY_RUN is on: Scrapy's own middleware decides, differences are counted, "
        "and each robots.txt is fetched once more."
    )


def _install_waiting(settings: BaseSettings) -> None:
    """Our queue where Scrapy's scheduler has its own.

    Where the user has chosen another scheduler or queue, it stays as it is, and is not imported
    now: requests wait in the middleware, at most ``ROBOTSPEC_MAX_PARKED``.
    """
    replaced = replaced_queue(settings)
    if replaced is not None:
        by_slot = replaced is DownloaderAwarePriorityQueue
        queue = WaitingPriorityQueue if by_slot else WaitingGlobalQueue
        _set(settings, "SCHEDULER_PRIORITY_QUEUE", queue)


def _install_browser_checks(settings: BaseSettings) -> None:
    """Our subclass for each handler of scrapy-playwright."""
    handlers = browser_handlers(settings)
    if not handlers:
        return
    from scrapy_robotspec.plugin.browser.handler import guarded

    unchecked = {
        scheme: guarded(handler)
        for scheme, handler in handlers.items()
        if not hasattr(handler, "obeys_robots_txt")
    }
    if unchecked:
        _set(settings, _HANDLERS, {**settings.getdict(_HANDLERS), **unchecked})


def _set(settings: BaseSettings, name: str, value: Any) -> None:
    priority = max(SETTINGS_PRIORITIES["addon"], settings.getpriority(name) or 0)
    settings.set(name, value, priority)


def _is(key: Any, cls: type) -> bool:
    """Whether a component's key, a class or an import path, means *cls*."""
    if not isinstance(key, str):
        return key is cls
    if key.rpartition(".")[2] != cls.__name__:
        return False  # not imported: it may import a reactor before Scrapy has chosen one
    try:
        return load_object(key) is cls
    except Exception:  # a component that is switched off need not be there
        return False
