"""Warnings at start about surprising settings and missing components.

Nothing here stops a crawl or changes a setting; wrong values raise in ``settings.py``.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.python import global_object_name

from scrapy_robotspec.plugin._compat import is_importable, loaded
from scrapy_robotspec.plugin._compat_rare import unread_job_file
from scrapy_robotspec.plugin.settings.settings import ENABLE, PREFIX, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


logger = logging.getLogger("scrapy_robotspec")

#: Settings that users look for under other names.
_MEANT = {
    "USERAGENT": ["ROBOTSPEC_USER_AGENT_TOKEN"],
    "ENABLED": ["ROBOTSTXT_OBEY"],
    "IGNORE": ["ROBOTSPEC_OVERRIDES"],
}
#: Settings without which those that begin with their names have no effect.
_NEEDED = ("ROBOTSPEC_EVIDENCE", "ROBOTSPEC_CRAWL_DELAY", "ROBOTSPEC_USAGE")
_BROWSER_HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


def log_switched_off(settings: BaseSettings) -> None:
    """Log who has switched ``ROBOTSTXT_OBEY`` off."""
    names = {priority: name for name, priority in SETTINGS_PRIORITIES.items()}
    name = names.get(settings.getpriority("ROBOTSTXT_OBEY") or 0, "settings")
    if name in ("default", "command"):
        logger.warning(
            "robots.txt is not obeyed: ROBOTSTXT_OBEY is off by default. Set ROBOTSTXT_OBEY = True."
        )
    else:
        source = {"project": "settings", "cmdline": "command line"}.get(name, name)
        logger.info("robots.txt is not obeyed: ROBOTSTXT_OBEY is off (%s)", source)


def surprises(given: list[str], checked: Settings) -> Iterator[str]:
    """Warnings about settings without the effect that is meant.

    *given*: the names of those that may be meant for ours.
    """
    for name in given:
        yield from _unknown(name, [*checked.names(), "ROBOTSTXT_OBEY"])
        needed = name.rpartition("_")[0]
        if needed in _NEEDED and needed not in given:  # else it may be off on purpose
            yield f"{name} is set and {needed} is not: it has no effect"
    for label in checked.usage:
        from scrapy_robotspec.access.usage_policy import doubt_about

        if doubt := doubt_about(label):
            yield f"ROBOTSPEC_USAGE contains {doubt}"


def _unknown(name: str, known: list[str]) -> Iterator[str]:
    """A warning if *name* is meant for one of the *known* names."""
    if name in known:
        return
    from difflib import get_close_matches  # few crawls need it

    end = name.upper().partition("_")[2]
    # The beginnings are all alike; another underscore may stand in one.
    meant = _MEANT.get(end) or get_close_matches(PREFIX + end, known, 1, 0.9)
    meant = meant or get_close_matches(name.upper(), known, 1, 0.95)
    meant = meant or [each for each in known if f"_{end.rstrip('S')}_" in f"{each}_"]
    if meant or name.startswith(PREFIX):
        hint = f" (is {' or '.join(meant)} meant?)" if meant else ""
        yield f"Unknown setting {name}: it has no effect{hint}"


def warn_of_old_job(settings: BaseSettings) -> None:
    """Warn of a ``JOBDIR`` that the installed Scrapy cannot read."""
    if seen := unread_job_file(settings):
        logger.warning(
            "%s was written by Scrapy 2.18 or older, and this Scrapy cannot read it: all pages "
            "of the JOBDIR are requested again. Finish the crawl with the Scrapy that began "
            "it, or start with an empty JOBDIR.",
            seen,
        )


def unchecked_browsers(settings: BaseSettings) -> dict[str, type | str]:
    """The handlers made of scrapy-playwright's that check nothing, by scheme.

    With each path that cannot be imported yet: it may name one.
    """
    handlers = {
        scheme: loaded(key) if is_importable(key, settings) else key
        for scheme, key in settings.getdict("DOWNLOAD_HANDLERS").items()
    }
    return {
        scheme: handler
        for scheme, handler in handlers.items()
        if (find_spec("scrapy_playwright") if isinstance(handler, str) else is_unchecked(handler))
    }


def is_unchecked(handler: object) -> bool:
    """Whether *handler* is made of scrapy-playwright's and checks nothing."""
    # By its name: scrapy-playwright may not be installed.
    return not hasattr(handler, "obeys_robots_txt") and _BROWSER_HANDLER in map(
        global_object_name, getattr(handler, "__mro__", ())
    )


def missing_parts(
    settings: BaseSettings, others: list[type], *, knows_queue: bool
) -> Iterator[str]:
    """Problems of a middleware that the add-on has not enabled last.

    *others* decide too. *knows_queue*: the scheduler's queue is ours, or one of the user's choice.
    """
    for other in others:
        yield (
            f"{global_object_name(other)} is enabled beside RobotSpecMiddleware: it decides too, "
            "by its own rules, and fetches each robots.txt once more. Set it to None in "
            "DOWNLOADER_MIDDLEWARES, as scrapy_robotspec.Addon does with Scrapy's own"
        )
    if not others and not knows_queue:
        yield (
            "The scheduler does not know RobotSpecMiddleware: while ROBOTSPEC_MAX_PARKED requests "
            "wait for a robots.txt, all others wait too. Remove RobotSpecMiddleware from "
            f"DOWNLOADER_MIDDLEWARES and {ENABLE}"
        )
    if settings.get("ROBOTSPEC_BROWSER") != "off" and unchecked_browsers(settings):
        yield (
            "scrapy-playwright is in DOWNLOAD_HANDLERS and its browser is not checked: redirects, "
            "scripts and frames of a page may request what robots.txt disallows. Give "
            "scrapy_robotspec.Addon the highest number in ADDONS"
        )
