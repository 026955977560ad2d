"""LateScheduler: imports a user's scheduler or queue when the crawl creates it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.utils.misc import load_object

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.scheduling.priority_queue import WaitingPriorityQueue
from scrapy_robotspec.plugin.scheduling.scheduler import gated_scheduler

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class LateScheduler(BaseScheduler):
    """Base of the classes that :func:`late_scheduler` makes; has no instances."""

    path: ClassVar[str]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        """Make the scheduler, which parks requests if its queue does not."""
        scheduler = load_object(cls.path)
        queue = load_object(crawler.settings["SCHEDULER_PRIORITY_QUEUE"])
        check_queue(scheduler, queue, crawler.settings)
        if scheduler is not Scheduler or not issubclass(queue, WaitingPriorityQueue):
            scheduler = gated_scheduler(scheduler)
        return scheduler.from_crawler(crawler)


def late_scheduler(path: str) -> type:
    """A class that stands for the scheduler at the import path *path*.

    Scrapy has not installed its reactor when add-ons run, and the module may import one.
    """
    return type("LateScheduler", (LateScheduler,), {"path": path})


def is_late(scheduler: Any) -> bool:
    """Whether :func:`late_scheduler` made the class *scheduler*."""
    # For Scrapy any scheduler is a subclass of any other one.
    return LateScheduler in getattr(scheduler, "__mro__", ())


def check_queue(scheduler: type, queue: type, settings: BaseSettings) -> None:
    """Raise ``ConfigurationError`` for a queue that cannot count by address.

    Scrapy stops too, in the midst of a traceback and without the remedy.
    """
    per_ip = settings.getint("CONCURRENT_REQUESTS_PER_IP")
    by_slot = issubclass(queue, DownloaderAwarePriorityQueue)
    if per_ip and by_slot and issubclass(scheduler, Scheduler):
        raise ConfigurationError(
            f"CONCURRENT_REQUESTS_PER_IP = {per_ip} does not work with the "
            f"SCHEDULER_PRIORITY_QUEUE {queue.__name__}: set SCHEDULER_PRIORITY_QUEUE = "
            "'scrapy.pqueues.ScrapyPriorityQueue', or CONCURRENT_REQUESTS_PER_DOMAIN in the place "
            "of CONCURRENT_REQUESTS_PER_IP"
        )
