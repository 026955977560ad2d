"""Records to store, and what workers in other processes do with them."""

from __future__ import annotations

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord

ORIGIN = Origin("http", "example.com", 80)


def origin(number: int) -> Origin:
    return Origin("https", f"host-{number}.example", 8000 + number)


def record(of: Origin = ORIGIN, at: float = 1_800_000_000.0, body: bytes = b"") -> RobotsRecord:
    """A record with something in every field."""
    return RobotsRecord(
        of,
        meaning=Meaning.RULES,
        status=200,
        body=body or bytes(range(256)) * 5,
        truncated=True,
        hops=(Hop("http://example.com/robots.txt", 301), Hop("https://ex\u00e4mple.com/", 302)),
        fetched_at=at,
        expires_at=at + 86_400,
        content_type="text/plain; charset=\u00fc",
        unreachable_since=at + 1,
        failures=3,
        unanswered=2,
        next_attempt=at + 60.5,
        failure="DNS lookup failed",
        failure_status=None,
        pages_answered_at=at + 2,
        failed_at=at + 5,
    )


def plain_record(of: Origin, at: float) -> RobotsRecord:
    """A short record, as a 404 leaves it."""
    return RobotsRecord(
        of, meaning=Meaning.ALLOW, status=404, fetched_at=at, expires_at=at + 86_400
    )
