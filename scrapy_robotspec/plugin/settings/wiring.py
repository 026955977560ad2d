"""Whether the components that robots.txt needs are enabled in a project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.utils.misc import load_object

from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

#: The middleware was enabled by hand for a dry run, in which Scrapy's own must decide.
DRY_RUN_WITHOUT_ADDON = (
    "ROBOTSPEC_DRY_RUN = True is wrong where RobotSpecMiddleware was put by hand into "
    "DOWNLOADER_MIDDLEWARES: give ADDONS scrapy_robotspec.Addon, which keeps Scrapy's own in place"
)
_REMEDY = (
    "Remove RobotSpecMiddleware from DOWNLOADER_MIDDLEWARES and set "
    'ADDONS = {"scrapy_robotspec.Addon": 500}'
)
_BROWSER_HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


def is_enabled(component: type, settings: BaseSettings) -> bool:
    """Whether a downloader middleware is enabled."""
    enabled = settings.getwithbase("DOWNLOADER_MIDDLEWARES").items()
    return any(loaded(key) is component for key, position in enabled if position is not None)


def sets_user_agent(settings: BaseSettings) -> bool:
    """Whether Scrapy's own middleware gives requests the project's User-Agent."""
    return is_enabled(UserAgentMiddleware, settings)


def browser_handlers(settings: BaseSettings) -> dict[str, type]:
    """The handlers of scrapy-playwright, and those made of it, by scheme."""
    handlers = {
        scheme: loaded(key)
        for scheme, key in settings.getdict("DOWNLOAD_HANDLERS").items()
        if key is not None and _compat.is_importable(key, settings)
    }
    return {scheme: handler for scheme, handler in handlers.items() if _opens_browser(handler)}


def _opens_browser(handler: Any) -> bool:
    """Whether *handler* comes from scrapy-playwright, which may not be installed."""
    return isinstance(handler, type) and any(
        _path(base) == _BROWSER_HANDLER for base in handler.__mro__
    )


def missing_parts(settings: BaseSettings) -> Iterator[str]:
    """Problems of a middleware enabled without the add-on, or before other add-ons."""
    if is_enabled(RobotsTxtMiddleware, settings):
        yield (
            "Scrapy's own RobotsTxtMiddleware is enabled beside RobotSpecMiddleware: it decides "
            f"too, by its own rules, and fetches each robots.txt once more. {_REMEDY}"
        )
    elif lacks_waiting_queue(settings):
        yield (
            "The scheduler does not know RobotSpecMiddleware: while ROBOTSPEC_MAX_PARKED requests "
            f"wait for a robots.txt, all others wait too. {_REMEDY}"
        )
    if _compat.lacks_connections(settings):
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


def lacks_waiting_queue(settings: BaseSettings) -> bool:
    """Whether Scrapy's scheduler has its own queue, in whose place ours belongs.

    A scheduler or a queue that the user has chosen is not imported.
    """
    scheduler, queue = settings["SCHEDULER"], settings["SCHEDULER_PRIORITY_QUEUE"]
    if scheduler not in (Scheduler, _path(Scheduler)):
        return False
    if settings.getint("CONCURRENT_REQUESTS_PER_IP"):  # no queue by download slot can have it
        return False
    stock = DownloaderAwarePriorityQueue
    # Until 2.13 Scrapy's default was another queue: the user has not chosen it.
    is_unchosen = settings.getpriority("SCHEDULER_PRIORITY_QUEUE") == 0
    return is_unchosen or queue in (stock, _path(stock))


def _path(component: type) -> str:
    return f"{component.__module__}.{component.__qualname__}"


def loaded(key: Any) -> Any:
    """The object that *key* names, or None."""
    if not isinstance(key, str):
        return key
    try:
        return load_object(key)
    except Exception:  # Scrapy raises it where the component is enabled
        return None
