"""GateOwner: the downloader middleware whose gate the queues of a crawl obey."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.scheduling.gate import Gate
    from scrapy_robotspec.plugin.settings.settings import Settings


@runtime_checkable
class GateOwner(Protocol):
    """The part of the middleware that the queues use."""

    gate: Gate
    settings: Settings

    def count_waiting(self, change: int) -> None:
        """Count *change* more waiting requests."""


def find_gate_owner(crawler: Crawler) -> GateOwner | None:
    """The crawl's middleware with a gate; None where no robots.txt is obeyed."""
    with suppress(AttributeError, RuntimeError):  # no engine, or one without middlewares
        return crawler.get_downloader_middleware(GateOwner)  # type: ignore[type-abstract]
    return None
