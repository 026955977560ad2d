"""Downloader middlewares of a user's, that stand in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


class DropsRobotsTxt:
    """Wants no robots.txt to be asked for."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if request.url.endswith("/robots.txt"):
            raise IgnoreRequest("no robots.txt here")


class DropsPages:
    """Stands before ours and drops some pages."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if "/dropped" in request.url:
            raise IgnoreRequest("not this one")


class SetsUserAgent:
    """Gives requests without a User-Agent another one, as scrapy-user-agents does."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.headers.setdefault("User-Agent", "otherbot/1.0")


class FollowsRedirects:
    """Gives the response the URL of its ``X-Final`` header, as a handler that followed it."""

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        final = response.headers.get("X-Final")
        return response if final is None else response.replace(url=final.decode())
