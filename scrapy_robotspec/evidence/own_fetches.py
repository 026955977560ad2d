"""OwnFetches: requests of a crawl's robots.txt fetches, which no rules forbid."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.access.exchange import RedirectChain
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import SERVER_ERRORS
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from scrapy_robotspec.evidence.log_lines import Members
    from scrapy_robotspec.evidence.run_reader import RunReader

#: Max exchanges after a request that are looked at (SAF-05). A fleet has as many in a moment as it
#: has processes.
_MAX_EXCHANGES = 1000
#: A killed process may have written nothing for this long before its last request (seconds).
LOST = 10.0
#: The end of the key of a probe for a missing page (FET-15); one that is under way has ``/*?``.
_MISSING_PAGE = re.compile(r"/[0-9a-f]{32}\?")


class _Answered(NamedTuple):
    """The last archived exchange of a fetch."""

    id: str
    time: float


class OwnFetches:
    """Redirects and probes of the robots.txt fetches in an evidence folder."""

    def __init__(self) -> None:
        self._exchanges: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """End and begin of each, sorted."""
        self._open: dict[Origin, _Answered] = {}
        """The fetches of the current run that have led to no state yet."""
        self._origins: dict[float, Origin] = {}
        """Their origins, by the time of the last exchange: the next one begins then."""

    def include(self, url: str, since: float, until: float) -> bool:
        """Whether a fetch requested *url*, or may have, during that time."""
        key = request_key(url)
        return any(self._has(each, since, until) for each in {key, _MISSING_PAGE.sub("/*?", key)})

    def _has(self, key: str, since: float, until: float) -> bool:
        exchanges = self._exchanges.get(key, ())
        first = bisect_left(exchanges, (since,))
        return any(began <= until for _, began in exchanges[first : first + _MAX_EXCHANGES])

    def add_record(self, values: Members) -> None:
        """Add an archive record by its log line."""
        began, time, url = values.get("began"), values["time"], values["url"]
        if not must_be_fetched(url):
            self._add(request_key(url), time, time if began is None else began)
        origin = self._origins.pop(began, None) or Origin.of(url)  # type: ignore[arg-type]
        if origin is not None and values["kind"] == "response":
            self._open[origin], self._origins[time] = _Answered(values["id"], time), origin
        elif origin is not None:
            self.end(origin)

    def _add(self, key: str, ended: float, began: float) -> None:
        insort(self._exchanges[key], (ended, began))

    def end(self, origin: Origin) -> None:
        """Note that no fetch of *origin* is under way."""
        last = self._open.pop(origin, None)
        if last is not None:
            self._origins.pop(last.time, None)

    def end_run(self, run: RunReader) -> None:
        """Note requests of *run* that no response ended before a kill."""
        for origin, last in self._open.items() if not run.summary.complete else ():
            with run.noting(last.id):
                exchange = run.find(last.id).exchange()
                if exchange is None:
                    continue
                chain = RedirectChain(origin, run.settings.redirects)
                chain.url = exchange.url
                urls = [chain.url] if chain.follow(exchange) else []
                if exchange.status in SERVER_ERRORS:
                    urls = [f"{origin}/", f"{origin}/*"]
                for url in urls:
                    self._add(request_key(url), run.end + LOST, last.time)
        self._open.clear()
        self._origins.clear()


def request_key(url: str) -> str:
    """*url* as requests of it are compared: origin, path and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{Origin.of(url)}{parts.path or '/'}?{parts.query}"


def must_be_fetched(url: str) -> bool:
    """Whether *url* is a robots.txt, which a crawler has to request."""
    return is_robots_txt(url.partition("?")[0])
