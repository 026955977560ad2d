"""Probes: find misplaced server errors, for ``ROBOTSPEC_PROBE_SERVER_ERRORS``."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import SERVER_ERRORS, SUCCESS
from scrapy_robotspec.editions import DAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.access.origin import Origin


class Probes:
    """Finds servers that answer 5xx for missing pages (FET-15).

    Each is asked at most once a day.
    """

    def __init__(self) -> None:
        self._probed_at: dict[Origin, float] = {}

    async def find_errors(
        self, origin: Origin, download: Callable[[str], Awaitable[Exchange]], now: float
    ) -> bool:
        """Whether a missing page answers 5xx, while ``/`` answers 2xx.

        *now*: epoch seconds.
        """
        probed = self._probed_at
        while probed and now >= next(iter(probed.values())) + DAY:
            del probed[next(iter(probed))]
        if origin in probed:
            return False
        probed[origin] = now
        base = origin.robots_url.removesuffix("robots.txt")
        missing = await download(f"{base}{secrets.token_hex(16)}")
        if missing.status not in SERVER_ERRORS:
            return False
        root = await download(base)
        return root.status in SUCCESS
