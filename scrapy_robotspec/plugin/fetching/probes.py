"""Probes: limits the probes for misplaced server errors (FET-15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: Seconds between two probes of one origin, and max origins that are remembered.
_INTERVAL = 86400.0
_MAX_ORIGINS = 10_000


class Probes:
    """Allows one probe per origin and day; none unless *enabled*."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._probed_at: dict[Origin, float] = {}

    def take(self, origin: Origin, now: float) -> bool:
        """Whether to probe *origin* at *now* (epoch seconds); counts it."""
        if not self._enabled or now < self._probed_at.get(origin, 0.0) + _INTERVAL:
            return False
        if len(self._probed_at) >= _MAX_ORIGINS:
            self._probed_at.pop(next(iter(self._probed_at)))
        self._probed_at[origin] = now
        return True
