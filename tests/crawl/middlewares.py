"""Downloader middlewares of a user's, that stand in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy import Request, Spider


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
