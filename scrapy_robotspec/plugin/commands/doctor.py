"""``scrapy robotspec doctor``: losses by other parts of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.utils.python import global_object_name

from scrapy_robotspec.errors import RobotSpecError
from scrapy_robotspec.plugin._compat_rare import middlewares_before
from scrapy_robotspec.plugin.commands.run import switch_on
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware, other_middlewares
from scrapy_robotspec.plugin.settings.checks import missing_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.settings import BaseSettings, Settings

USAGE = """Usage: scrapy robotspec doctor

  Name what of this project's middlewares, handlers and queues costs its crawls something."""
_NOTHING = "No earlier middleware; handlers and queues are Scrapy's or ours."
#: Beginnings of names of parts that lose nothing.
_KNOWN = ("scrapy.core.", "scrapy_robotspec.")


def diagnose(settings: Settings) -> None:
    """Print what the crawls of a project give up, a line each.

    Raises ``UsageError`` for a wrong setting.
    """
    switch_on(settings)
    crawler = Crawler(Spider, settings)
    try:
        crawler.addons.load_settings(crawler.settings)
    except RobotSpecError as error:
        raise UsageError(str(error), print_help=False) from None
    print("\n".join(list(_losses(crawler.settings)) or [_NOTHING]))


def _losses(settings: BaseSettings) -> Iterator[str]:
    """Losses by each part in the *settings* of a crawl."""
    yield from missing_parts(settings, other_middlewares(settings), knows_queue=True)
    for name in middlewares_before(settings, RobotSpecMiddleware):
        yield f"DOWNLOADER_MIDDLEWARES: {name} comes first: what it answers itself is not checked"
    for name in _others(settings.getwithbase("DOWNLOAD_HANDLERS").values()):
        yield (
            f"DOWNLOAD_HANDLERS: {name} may follow redirects itself, whose targets are requested "
            "before any check, and send other headers and spellings than were judged"
        )
    for name in _others([settings["SCHEDULER"], settings["SCHEDULER_PRIORITY_QUEUE"]])[:1]:
        yield (
            f"SCHEDULER: {name} has no queue for each origin: requests wait outside it, at most "
            f"{settings.getint('ROBOTSPEC_MAX_PARKED', 1000)} (ROBOTSPEC_MAX_PARKED), and a killed "
            "process loses them if the queue is not scrapy-redis's"
        )


def _others(components: Iterable[Any]) -> list[str]:
    """The names of those of *components* that others have written."""
    given = [each for each in components if each is not None]
    names = [each if isinstance(each, str) else global_object_name(each) for each in given]
    return [name for name in dict.fromkeys(names) if not name.startswith(_KNOWN)]
