"""Probes: servers that answer 5xx for pages that are missing (FET-15)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import SERVER_ERRORS, SUCCESS
from scrapy_robotspec.editions import DAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.access.origin import Origin

#: Max origins whose last probe is remembered.
_MAX_ORIGINS = 10_000


class Probes:
    """Probes each origin at most once a day."""

    def __init__(self) -> None:
        self._probed_at: dict[Origin, float] = {}

    async def find_errors(
        self, origin: Origin, download: Callable[[str], Awaitable[Exchange]], now: float
    ) -> bool:
        """Whether a missing page answers 5xx, while ``/`` answers 2xx.

        *now*: epoch seconds.
        """
        if not self._take(origin, now):
            return False
        base = origin.robots_url.removesuffix("robots.txt")
        missing = await download(f"{base}{secrets.token_hex(16)}")
        if missing.status not in SERVER_ERRORS:
            return False
        root = await download(base)
        return root.status in SUCCESS

    def _take(self, origin: Origin, now: float) -> bool:
        """Whether to probe *origin* at *now*; counts it."""
        if now < self._probed_at.get(origin, 0.0) + DAY:
            return False
        if len(self._probed_at) >= _MAX_ORIGINS:
            self._probed_at.pop(next(iter(self._probed_at)))
        self._probed_at[origin] = now
        return True
