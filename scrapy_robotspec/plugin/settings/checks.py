"""Warnings at start about missing components.

Nothing here stops a crawl or changes a setting; wrong values raise in ``settings.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.utils.python import global_object_name

from scrapy_robotspec.plugin._compat import is_importable, lacks_connections, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

#: The middleware was enabled by hand for a dry run, in which Scrapy's own must decide.
DRY_RUN_WITHOUT_ADDON = (
    "ROBOTSPEC_DRY_RUN = True is wrong where RobotSpecMiddleware was put by hand into "
    "DOWNLOADER_MIDDLEWARES: give ADDONS scrapy_robotspec.Addon, which keeps Scrapy's own in place"
)
ENABLE = 'set ADDONS = {"scrapy_robotspec.Addon": 500}'
_REMEDY = f"Remove RobotSpecMiddleware from DOWNLOADER_MIDDLEWARES and {ENABLE}"
_BROWSER_HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


def browser_handlers(settings: BaseSettings) -> dict[str, type]:
    """The handlers of scrapy-playwright, and those made of it, by scheme."""
    handlers = {
        scheme: loaded(key)
        for scheme, key in settings.getdict("DOWNLOAD_HANDLERS").items()
        if key is not None and is_importable(key, settings)
    }
    return {scheme: handler for scheme, handler in handlers.items() if _opens_browser(handler)}


def _opens_browser(handler: Any) -> bool:
    """Whether *handler* comes from scrapy-playwright, which may not be installed."""
    return isinstance(handler, type) and any(
        global_object_name(base) == _BROWSER_HANDLER for base in handler.__mro__
    )


def missing_parts(settings: BaseSettings) -> Iterator[str]:
    """Problems of a middleware that the add-on has not enabled last.

    It imports middlewares, so the reactor must have been installed.
    """
    others = _other_middlewares(settings)
    for name in others:
        yield (
            f"{name} is enabled beside RobotSpecMiddleware: it decides too, by its own rules, and "
            "fetches each robots.txt once more. Set it to None in DOWNLOADER_MIDDLEWARES, as "
            "scrapy_robotspec.Addon does with Scrapy's own"
        )
    if not others and replaced_queue(settings) is not None:
        yield (
            "The scheduler does not know RobotSpecMiddleware: while ROBOTSPEC_MAX_PARKED requests "
            f"wait for a robots.txt, all others wait too. {_REMEDY}"
        )
    if lacks_connections(settings):
        yield (
            "The download handler opens CONCURRENT_REQUESTS connections, and none were added for "
            "robots.txt: silent sites delay the pages of all others. Give scrapy_robotspec.Addon "
            "the highest number in ADDONS"
        )
    if settings.get("ROBOTSPEC_BROWSER") != "off" and any(
        not hasattr(handler, "obeys_robots_txt") for handler in browser_handlers(settings).values()
    ):
        yield (
            "scrapy-playwright is in DOWNLOAD_HANDLERS and its browser is not checked: redirects, "
            "scripts and frames of a page may request what robots.txt disallows. Give "
            "scrapy_robotspec.Addon the highest number in ADDONS"
        )


def replaced_queue(settings: BaseSettings) -> type | None:
    """Scrapy's own queue, in whose place one of ours belongs.

    A scheduler or a queue that the user has chosen is not imported.
    """
    scheduler, queue = settings["SCHEDULER"], settings["SCHEDULER_PRIORITY_QUEUE"]
    if scheduler not in (Scheduler, global_object_name(Scheduler)):
        return None
    if settings.getint("CONCURRENT_REQUESTS_PER_IP"):  # no queue by download slot can have it
        return None
    if queue in (DownloaderAwarePriorityQueue, global_object_name(DownloaderAwarePriorityQueue)):
        return DownloaderAwarePriorityQueue
    # The default of Scrapy 2.13, which the user has not chosen.
    is_unchosen = settings.getpriority("SCHEDULER_PRIORITY_QUEUE") == 0
    return ScrapyPriorityQueue if is_unchosen else None


def _other_middlewares(settings: BaseSettings) -> list[str]:
    """Scrapy's own middleware and those made of it, if they are enabled."""
    enabled = settings.getwithbase("DOWNLOADER_MIDDLEWARES").items()
    found = ((key, loaded(key)) for key, position in enabled if position is not None)
    return [
        key if isinstance(key, str) else global_object_name(key)
        for key, middleware in found
        if isinstance(middleware, type) and issubclass(middleware, RobotsTxtMiddleware)
    ]
