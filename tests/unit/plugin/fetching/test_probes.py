"""Probes for misplaced server errors are rare (FET-15)."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.fetching.probes import Probes

DAY = 86400.0


def origin(number: int) -> Origin:
    return Origin("http", f"host{number}.example", 80)


class Server:
    """A server that answers 500 for pages that are missing."""

    def __init__(self) -> None:
        self.probes = Probes()
        self.asked: list[str] = []

    async def download(self, url: str) -> Exchange:
        self.asked.append(url)
        return Exchange(url, 200 if url.endswith(".example/") else 500)

    def is_probed(self, number: int, now: float) -> bool:
        """Probe an origin; its server has been asked for two pages if it was due."""
        self.asked.clear()
        found: list[bool] = []
        probing = self.probes.find_errors(origin(number), self.download, now)
        Deferred.fromCoroutine(probing).addCallback(found.append)
        assert len(self.asked) == (2 if found == [True] else 0)
        return found == [True]


def test_an_origin_is_probed_once_a_day() -> None:
    """The second probe comes a day after the first; other origins have days of their own."""
    server = Server()
    assert server.is_probed(1, DAY)
    assert not server.is_probed(1, 2 * DAY - 1)
    assert server.is_probed(2, DAY + 1)
    assert server.is_probed(1, 2 * DAY)


def test_an_origin_is_remembered_for_a_day() -> None:
    """Memory grows with the origins of a day, not with those of the crawl."""
    server = Server()
    assert all(server.is_probed(number, DAY + number) for number in range(100))
    assert server.is_probed(100, 2 * DAY + 99)
    assert len(server.probes._probed_at) == 1
