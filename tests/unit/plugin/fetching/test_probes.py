"""FET-15: probes for misplaced server errors are rare."""

from __future__ import annotations

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.fetching.attempt import Probes

DAY = 86400.0


def origin(number: int) -> Origin:
    return Origin("http", f"host{number}.example", 80)


def test_an_origin_is_probed_once_a_day() -> None:
    """The second probe comes a day after the first; other origins have days of their own."""
    probes = Probes(enabled=True)
    assert probes.take(origin(1), DAY)
    assert not probes.take(origin(1), 2 * DAY - 1)
    assert probes.take(origin(2), DAY + 1)
    assert probes.take(origin(1), 2 * DAY)


def test_no_probe_without_the_setting() -> None:
    assert not Probes(enabled=False).take(origin(1), DAY)


def test_the_oldest_of_many_origins_is_forgotten() -> None:
    """Memory is bounded: only the first of 10,001 origins may be probed again."""
    probes = Probes(enabled=True)
    assert all(probes.take(origin(number), DAY) for number in range(10_001))
    assert not probes.take(origin(1), DAY)
    assert probes.take(origin(0), DAY)
