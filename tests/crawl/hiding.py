"""Hides parts of Scrapy from this package, and from nobody else."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

from scrapy.core import engine as engine_module
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import CallLaterOnce
from typing_extensions import Self


class HidesParts:
    """The setting ``HIDDEN_PARTS``: paths from the engine, as in ``_compat.PARTS``."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hidden = defaultdict[Any, set[str]](set)
        for path in crawler.settings["HIDDEN_PARTS"]:
            owner, _, name = path.rpartition(".")
            hidden[_class_of(owner, crawler.settings)].add(name)
        for kind, names in hidden.items():
            _hide(kind, names)
        return cls()


def _class_of(owner: str, settings: BaseSettings) -> Any:
    if owner == "_slot.scheduler":
        return load_object(settings["SCHEDULER"])
    return {
        "_slot": getattr(engine_module, "_Slot", None) or getattr(engine_module, "Slot", None),
        "_slot.nextcall": CallLaterOnce,
        "downloader": Downloader,
        "downloader.handlers": DownloadHandlers,
        "downloader.middleware": DownloaderMiddlewareManager,
    }[owner]


def _hide(kind: Any, names: set[str]) -> None:
    plain = kind.__getattribute__

    def get(self: object, wanted: str) -> Any:
        if wanted in names:
            asking = sys._getframe(1).f_globals["__name__"]
            if asking.startswith("scrapy_robotspec"):
                raise AttributeError(wanted)
        return plain(self, wanted)

    kind.__getattribute__ = get
