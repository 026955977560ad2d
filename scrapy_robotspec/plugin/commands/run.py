"""Runs a query with the settings of a project or Scrapy's defaults."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.errors import RobotSpecError
from scrapy_robotspec.plugin._compat import is_enabled
from scrapy_robotspec.plugin.addon import Addon, check_settings
from scrapy_robotspec.plugin.commands.query import Query, QuerySpider

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings

    from scrapy_robotspec.cli.session import SiteOptions, Visit
    from scrapy_robotspec.render.site import SiteAnswer

#: A query must not overwrite the project's output, touch its queue, or run its pipelines; and it
#: queries each site once, because a person is waiting.
_QUERY_SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "ROBOTSPEC_DRY_RUN": False,
    "JOBDIR": None,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSPEC_REPORT": None,
    "ROBOTSPEC_EVIDENCE": None,
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
}


def query_sites(
    visit: Visit,
    options: SiteOptions,
    handle: Callable[[SiteAnswer], None],
) -> None:
    """Decide about URLs with Scrapy's default settings; see ``cli.session.QuerySites``."""
    from scrapy.crawler import CrawlerProcess

    settings = {"LOG_LEVEL": "ERROR", "ROBOTSPEC_USER_AGENT_TOKEN": "*"}
    query_with(CrawlerProcess(settings), visit, options, handle)


def query_with(
    process: CrawlerProcessBase,
    visit: Visit,
    options: SiteOptions,
    handle: Callable[[SiteAnswer], None],
) -> None:
    """Decide about URLs with the settings of a process.

    Raises ``ConfigurationError`` for a wrong setting, and what ``handle`` raises.
    """
    _adapt(process.settings, options)
    check_settings(process.settings)
    query = Query(visit, handle)
    process.crawl(QuerySpider, query=query)
    process.start()
    if query.error is not None:
        raise query.error
    if not query.done:
        if process.bootstrap_failed:
            raise RobotSpecError("the crawl did not start; the lines above say why")
        raise KeyboardInterrupt


def missing_note(settings: BaseSettings) -> str | None:
    """A note if the crawls of a project decide otherwise, else None."""
    if not is_enabled(Addon, settings.getdict("ADDONS")):
        return "note: ADDONS of the project lacks scrapy_robotspec.Addon; decided as if it were on"
    if not settings.getbool("ROBOTSTXT_OBEY"):
        return "note: ROBOTSTXT_OBEY is off in the project; decided as if it were on"
    return None


def _adapt(settings: BaseSettings, options: SiteOptions) -> None:
    """Put the options of the query over the settings."""
    for name, value in _QUERY_SETTINGS.items():
        settings.set(name, value, priority="cmdline")
    with suppress(TypeError, ValueError):  # the add-on reports a wrong value
        timeout = float(settings.get("ROBOTSPEC_FETCH_TIMEOUT", options.timeout))
        timeout = min(options.timeout, timeout)
        settings.set("ROBOTSPEC_FETCH_TIMEOUT", timeout, priority="cmdline")
    addons = settings.getdict("ADDONS")
    if not is_enabled(Addon, addons):
        settings.set("ADDONS", {**addons, Addon: 500}, priority="cmdline")
    if options.tokens is not None:
        tokens = list(options.tokens) or "*"
        settings.set("ROBOTSPEC_USER_AGENT_TOKEN", tokens, priority="cmdline")
    if options.edition is not None:
        settings.set("ROBOTSPEC_EDITION", options.edition, priority="cmdline")
