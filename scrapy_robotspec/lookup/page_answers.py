"""PageAnswers: notes that pages answer while their robots.txt does not (FET-12).

Few editions use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.origin import Origin

if TYPE_CHECKING:
    from scrapy_robotspec.lookup.lookup import Lookup, Runtime


class PageAnswers:
    """Notes answers of pages in the records of *lookup*."""

    def __init__(self, runtime: Runtime, lookup: Lookup) -> None:
        self._runtime = runtime
        self._lookup = lookup

    def on_response(self, response: Any, request: Any) -> None:
        """Note Scrapy's *response* to *request*, unless that obeys no robots.txt."""
        if response.status < 500 and not request.meta.get("dont_obey_robotstxt"):
            origin = Origin.of(request.url)
            if origin is not None:
                self.page_answered(origin)

    def page_answered(self, origin: Origin) -> None:
        """Note that a page of *origin* answered."""
        now, lookup = self._runtime.clock(), self._lookup
        resolved = lookup.rules.get_valid(origin, now)
        if resolved is not None and not resolved.unreachable:  # hot path: decodes no record
            return
        record = lookup.store.get(origin)
        if record is not None:
            noted = self._runtime.policy_of(origin).page_answered(record, now)
            if noted is not record:
                lookup.store.put(noted)
                lookup.rules.pop(origin)
                if not noted.local:
                    lookup.store.share(noted, record)
