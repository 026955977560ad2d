"""The robots.txt request: headers and meta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_robotspec.plugin.fetching.routes import Route

#: Meta key that marks these requests and holds their :class:`Transfer`.
META_KEY = "_robotspec_download"

#: Nothing between the engine and the network may answer, change or repeat the request.
_OWN_META = {
    "dont_obey_robotstxt": True,
    "dont_redirect": True,
    "dont_retry": True,
    "dont_merge_cookies": True,
    "allow_offsite": True,
    "autothrottle_dont_adjust_delay": True,
    "download_maxsize": 0,  # our own limit cuts a long file; Scrapy's would raise
    "download_warnsize": 0,
    "download_fail_on_dataloss": False,  # the status decides, not the body (FET-03, FET-08)
    "ftp_user": "anonymous",  # LOC-06
    "ftp_password": "guest",
}
#: The codings that are decoded up to a limit, so that a bomb is never unpacked.
_ACCEPT_ENCODING = "gzip, deflate"

#: FET-01: the whole file, unconditionally.
_CONDITIONAL_HEADERS = (
    "If-Modified-Since",
    "If-None-Match",
    "If-Match",
    "If-Unmodified-Since",
    "If-Range",
    "Range",
)
#: FET-18: not sent to another origin.
_PRIVATE_HEADERS = ("Authorization", "Cookie")


class Transfer:
    """Notes about one robots.txt request while it is downloaded."""

    __slots__ = ("content_encoding", "received", "stopped")

    def __init__(self) -> None:
        self.received = 0
        """Bytes of the body so far."""
        self.stopped = False
        """The size limit ended the download (FMT-12)."""
        self.content_encoding: list[bytes] = []
        """Values of the response's header."""


def robots_request(
    url: str,
    origin: Origin,
    *,
    slot: str,
    route: Route,
    user_agent: bytes | None,
    timeout: float,
    use_http_cache: bool,
) -> Request:
    """A plain GET of *url* over *route* (FET-01).

    *timeout* is in seconds. With *use_http_cache* off the HTTP cache is bypassed.
    """
    meta: dict[str, Any] = {
        **dict(route.meta),
        **_OWN_META,
        "download_timeout": timeout,
        "download_slot": slot,
        META_KEY: Transfer(),
    }
    if not use_http_cache:
        meta["dont_cache"] = True
    headers: dict[bytes, bytes | str] = {b"Accept-Encoding": _ACCEPT_ENCODING}
    if user_agent:
        headers[b"User-Agent"] = user_agent
    if route.proxy_authorization:
        headers[b"Proxy-Authorization"] = route.proxy_authorization
    request = Request(url, callback=NO_CALLBACK, meta=meta, headers=headers)
    for name in _CONDITIONAL_HEADERS:
        _never_send(request, name)
    if Origin.of(url) != origin:
        for name in _PRIVATE_HEADERS:
            _never_send(request, name)
    return request


def exchange_of(url: str, response: Response, transfer: Transfer) -> Exchange:
    """What the request for *url* brought, as received."""
    lines = [
        (name, value)
        for name, values in response.headers.items()
        if isinstance(values, list)
        for value in values
    ]
    lines += [(b"Content-Encoding", value) for value in transfer.content_encoding]
    return Exchange(
        url,
        response.status,
        tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in lines),
        response.body,
        stopped=transfer.stopped,
        lost="dataloss" in response.flags,
    )


def _never_send(request: Request, name: str) -> None:
    """Keep default headers and HttpAuth from adding *name*: an empty list counts as present."""
    request.headers.setlist(name, [])
