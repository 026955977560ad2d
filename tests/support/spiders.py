"""The spider of most crawl tests: sends the job's requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from twisted.python.failure import Failure

from tests.support.event_log import Notebook, read_job


class Noting(Spider):
    """Base of the spiders: callbacks that note."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.job = read_job()
        self.note = Notebook(self.job["notes"]).note

    def request(self, entry: str | dict[str, Any]) -> Request:
        """A request of the job, from a URL or its arguments."""
        arguments = {"url": entry} if isinstance(entry, str) else entry
        return Request(callback=self.got, errback=self.failed, **arguments)

    def got(self, response: Response) -> Any:
        """Note a response."""
        request = response.request
        assert request is not None
        self.note(
            "response",
            url=request.url,
            final=response.url,
            status=response.status,
            flags=response.flags,
            body=response.body[:200].decode("latin-1"),
            robotspec=request.meta.get("robotspec"),
            meta=sorted(map(str, request.meta)),
            dont_filter=request.dont_filter,
        )

    def failed(self, failure: Failure) -> Any:
        """Note an error."""
        error = failure.value
        decision = getattr(error, "decision", None)
        self.note(
            "error",
            url=failure.request.url,  # type: ignore[attr-defined]
            type=type(error).__name__,
            bases=[base.__name__ for base in type(error).__mro__],
            text=str(error),
            reason=getattr(decision, "reason", None),
            status=getattr(decision, "status", None),
            hops=[[hop.url, hop.status] for hop in getattr(decision, "hops", None) or ()],
            origin=getattr(decision, "origin", None),
        )


class Plain(Noting):
    """All requests of the job at once, noted once they are scheduled."""

    name = "plain"

    async def start(self) -> AsyncIterator[Request]:
        for entry in self.job["requests"]:
            yield self.request(entry)
        self.note("given")
