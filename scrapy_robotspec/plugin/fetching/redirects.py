"""RedirectChain: one robots.txt with its redirects.

What the last response means is decided in ``access/outcome.py``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urldefrag, urljoin

from w3lib.url import safe_url_string

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.access.private_hosts import is_private
from scrapy_robotspec.plugin.fetching.robots_request import META_KEY, Transfer

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy.http import Response

    from scrapy_robotspec.plugin.settings.settings import Settings

#: User info, host and port of a Location, as leniently as any client reads them.
_AUTHORITY = re.compile(r"[^/\\?#]*[/\\\t]{2,}([^/\\?#]*)")
#: A Location that begins an absolute URL and lacks a host.
_NO_HOST = re.compile(r"(?:https?:)?//(?:[/?#]|$)", re.IGNORECASE)
#: Max length of user info, host and port (characters). A host has 255 at most; mapping one of
#: thousands to ASCII would block the reactor for seconds.
_MAX_AUTHORITY = 1000
#: Max stored length of a redirect URL (characters).
_MAX_HOP_URL = 2000


class Download(Protocol):
    """Sends a GET and returns the response with its request."""

    def __call__(self, url: str) -> Awaitable[Response]: ...


class RedirectChain:
    """The redirects of one robots.txt request (FET-03 to FET-07, FET-18)."""

    def __init__(self, origin: Origin, settings: Settings, download: Download) -> None:
        self._origin = origin
        self._settings = settings
        self._download = download
        self.hops: list[Hop] = []

    async def follow(self) -> tuple[Response, str | None]:
        """The last response, and why it counts as a 404."""
        url = self._origin.robots_url
        requested = {url}
        while True:
            response = await self._download(url)
            if not 300 <= response.status < 400:
                return response, None
            target = redirect_target(url, response)
            self.hops.append(
                Hop(url[:_MAX_HOP_URL], response.status, target and target[:_MAX_HOP_URL])
            )
            error = self._redirect_error(target, requested)
            if error is not None:
                return response, error
            assert target is not None
            requested.add(target)
            url = target

    def _redirect_error(self, target: str | None, requested: set[str]) -> str | None:
        if target is None:
            return "no location"
        origin = Origin.of(target)
        if origin is None or not target.startswith(("http://", "https://")):
            return "foreign scheme"
        if self._settings.refuse_private_redirects and _leads_inside(self._origin, origin):
            return "private address"
        if self._settings.edition.recognises_redirect_loops and target in requested:
            return "loop"
        if len(self.hops) > self._settings.max_redirects:
            return "too many redirects"
        return None

    def result(self, response: Response, redirect_error: str | None) -> FetchResult:
        """What the chain that ended with *response* brought."""
        assert response.request is not None
        transfer: Transfer = response.request.meta[META_KEY]
        limit = self._settings.max_size + 1  # one byte more shows that the file is longer
        body, decoded = decode_prefix(response.body, transfer.encodings, limit)
        whole = decoded and "dataloss" not in response.flags and not _is_partial(response)
        return FetchResult(
            status=response.status,
            body=body,
            headers=_headers(response),
            hops=tuple(self.hops),
            redirect_error=redirect_error,
            complete=transfer.stopped or whole,
            truncated=len(body) >= limit,
        )


def redirect_target(url: str, response: Response) -> str | None:
    """The target of a redirect without fragment, or None."""
    location = response.headers.get(b"Location")
    if not location or response.status == 304:
        return None
    text = location.decode("utf-8", "replace").strip()
    authority = _AUTHORITY.match(text)
    if authority is not None and len(authority[1]) > _MAX_AUTHORITY:
        return None
    if _NO_HOST.match(text):  # urljoin would take the host of *url*
        return None
    try:
        return urldefrag(urljoin(url, safe_url_string(text))).url
    except ValueError:
        return None


def _leads_inside(first: Origin, target: Origin) -> bool:
    return is_private(target.host) and not is_private(first.host)


_CONTENT_RANGE = re.compile(r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*$", re.IGNORECASE)


def _is_partial(response: Response) -> bool:
    """Whether a 206 leaves bytes of the file out (FET-02)."""
    if response.status != 206:
        return False
    headers = _headers(response)
    if headers.get("content-type", "").lower().startswith("multipart/byteranges"):
        return True
    found = _CONTENT_RANGE.match(headers.get("content-range", ""))
    if found is None:
        return False
    first, last, size = found.groups()
    return int(first) > 0 or (size != "*" and int(last) + 1 < int(size))


def _headers(response: Response) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if isinstance(values, list)
    }
