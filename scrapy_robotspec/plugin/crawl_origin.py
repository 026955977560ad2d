"""CrawlOrigin: the state of a live origin of a crawl."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from scrapy_robotspec.lookup.live_origins import LiveOrigin, LiveOrigins

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.fetching.routes import Route


class QueueState(Enum):
    """Whether requests of an origin may leave the scheduler (``scheduling/gate.py``)."""

    READY = "ready"
    UNKNOWN = "unknown"
    HELD = "held"


class CrawlOrigin(LiveOrigin):
    """The lookup's state of an origin, and that of the crawl."""

    __slots__ = (
        "failed_routes",
        "holds",
        "left",
        "line",
        "pending_since",
        "routes",
        "state",
        "waits",
    )

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self.state = QueueState.READY
        self.holds = 0
        """Number of requests that hold the others in the scheduler."""
        self.left: Request | None = None
        """The request that has left the scheduler alone and has not arrived in the middleware."""
        self.waits = 0
        """Number of waits for its robots.txt."""
        self.routes: dict[str, Route] = {}
        """Routes of the waiting requests by name."""
        self.failed_routes: Counter[str] = Counter()
        self.pending_since: float | None = None
        """When the first request began to wait for its robots.txt (epoch seconds)."""
        self.line = ""
        """The kind of the last log line about it, written or suppressed."""

    @property
    def is_idle(self) -> bool:
        waits = self.waits or self.holds or self.left is not None
        pending = self.pending_since is not None or self.state is not QueueState.READY
        return not (waits or pending) and super().is_idle


def crawl_origins() -> LiveOrigins[CrawlOrigin]:
    """No live origins yet."""
    return LiveOrigins(CrawlOrigin)
