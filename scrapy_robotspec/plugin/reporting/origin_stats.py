"""OriginStats: what happened with each origin of a crawl."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin


@dataclass(slots=True)
class OriginStats:
    """Counts of one origin, and the facts of its latest robots.txt response."""

    let_through: int = 0
    refused: int = 0
    waited: int = 0
    given_up: int = 0
    asked: int = 0
    """Attempts to learn its robots.txt, from a shared store or by a fetch."""
    failed: int = 0
    """Attempts without a usable answer."""
    seconds: float = 0.0
    """Duration of the slowest attempt."""
    answer: str | None = None
    """``rules``, ``allow``, ``disallow`` or ``unreachable``."""
    status: int | None = None
    failure: str | None = None
    hops: int | None = None
    bytes: int | None = None
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    """Pages by the preference of each declared label: ``allow``, ``disallow`` or ``unknown``."""


class OriginStatsTable:
    """The :class:`OriginStats` of all origins, in order of appearance."""

    def __init__(self) -> None:
        self._rows: dict[Origin, OriginStats] = {}

    def row(self, origin: Origin) -> OriginStats:
        """The row of *origin*, made if needed."""
        row = self._rows.get(origin)
        if row is None:
            row = self._rows[origin] = OriginStats()
        return row

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row with its origin, as plain values."""
        for origin, row in self._rows.items():
            yield {"origin": str(origin), **asdict(row)}
