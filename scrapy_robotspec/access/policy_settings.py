"""The settings that decide about access."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.editions import DAY, Edition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.outcome import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """Values of the access policy; all times in seconds."""

    edition: Edition
    """``stale_after``, ``unreachable_limit`` and what follows them are its fields."""
    ttl: float = DAY
    """Lifetime of a response whose headers name none (CAC-01)."""
    min_ttl: float = 300.0
    max_ttl: float = DAY
    """Bounds of the lifetime that headers may name (CAC-03)."""
    status_policy: Mapping[int, Meaning] = field(default_factory=lambda: MappingProxyType({}))
    """Statuses with a meaning other than the edition's (FET-09)."""
    unreachable: Literal["wait", "allow"] = "wait"
    """Whether requests wait or go while the origin is closed (FET-10)."""
    hold_timeout: float = 300.0
    """An origin that answers 5xx keeps its requests waiting for this time."""
    retry_times: int = 2
    """Further attempts for an origin that gives no HTTP answer."""
    retry_delay: float = 1.0
    """First pause between attempts; the pause doubles with each failure."""
    retry_max_delay: float = 60.0
    """Longest pause that we choose ourselves, and the pause between probes."""
