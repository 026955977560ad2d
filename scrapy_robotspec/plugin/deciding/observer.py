"""DecisionObserver: receives every decision that a crawl applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import FetchDone, Resolved

#: Where a decision applies: before a download, to the URL that a download handler was redirected
#: to, to a request inside a browser, to a URL that a spider asked about, or nowhere (dry run).
Stage = Literal["request", "final_url", "browser", "question", "dry_run"]


class DecisionObserver(Protocol):
    """Implemented by the evidence. Only ``close`` may block; none may raise."""

    def open(self) -> None:
        """The crawl starts."""

    def on_fetch_done(self, done: FetchDone) -> None:
        """A fetch, or a search of the shared store, ended."""

    def on_decision(
        self, request: Request, decision: Decision, found: Resolved | None, stage: Stage
    ) -> None:
        """*decision* applies to *request*.

        *found*: the rules or state it was made from; None for an override, and where *request*
        could wait no longer.
        """

    def on_exempt(self, request: Request) -> None:
        """*request* is sent without a decision: its meta contains ``dont_obey_robotstxt``."""

    def on_usage(self, request: Request, response: Response, decision: Decision | None) -> None:
        """The usage preferences of *response* are known; *decision*, if any, refuses it."""

    def close(self) -> None:
        """The crawl has ended. Called in a thread."""
