"""The robots.txt request: headers, meta, and its way through Scrapy's downloader."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.codings import can_decode
from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.loop_time import TimeLimitError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.meta_keys import BROWSERS, TRANSFER, ZYTE_API_SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.python.failure import Failure

    from scrapy_robotspec.lookup.loop_time import LoopTime
    from scrapy_robotspec.plugin.fetching.routes import Route

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
    ZYTE_API_SESSION: False,
}
#: Content codings of Scrapy's header that are decoded up to a limit: a bomb is never unpacked.
_DECODABLE = [coding for coding in _compat.ACCEPTED_ENCODINGS if can_decode(coding)]
#: Header of our own, only where Scrapy's would ask for more. An own header would tell anti-bot
#: software, and handlers that choose headers themselves, robots.txt requests from those for pages.
_ACCEPT_ENCODING = None if _DECODABLE == _compat.ACCEPTED_ENCODINGS else b", ".join(_DECODABLE)

#: FET-01: the whole file, unconditionally.
_CONDITIONAL_HEADERS: tuple[str, ...] = (
    "If-Modified-Since",
    "If-None-Match",
    "If-Match",
    "If-Unmodified-Since",
    "If-Range",
    "Range",
)
#: FET-18: not sent to another origin.
_PRIVATE_HEADERS = ("Authorization", "Cookie")


@dataclass(slots=True, eq=False)
class Transfer:
    """One robots.txt request, and notes about its download."""

    request: Request
    """As it was made; then as the download handler got it."""
    slot: str
    """Name of the download slot."""
    never_sent: Sequence[str]
    """Headers that do not leave, whichever middleware has added them."""
    received: int = 0
    """Number of bytes received of the body."""
    stopped: bool = False
    """The size limit ended the download (FMT-12)."""
    content_encoding: Sequence[bytes] = ()
    """Values of the response's header."""
    sending: Deferred[Any] | None = None
    """The handler's work."""
    headers_suffice: bool = False
    """A redirect's body has not come to its end (FET-03)."""
    body: Deferred[None] | None = None
    """That of a response with a Location, whose time is limited; fires at its end."""

    def send_as(self, request: Request) -> None:
        """*request* is about to be sent.

        Other middlewares may repeat it, as scrapy-rotating-proxies does where a proxy fails, or
        want a browser for it, whose view of a text file has no rules.
        """
        self.end_body()
        self.received, self.stopped, self.content_encoding = 0, False, ()
        self.request = request
        for name in self.never_sent:
            request.headers.pop(name, None)
        for name in BROWSERS:
            request.meta.pop(name, None)

    def end_body(self) -> None:
        """Limit the time of this body no more."""
        if self.body is not None and not self.body.called:
            self.body.callback(None)

    def give_body_up(self, _: Failure) -> None:
        """End this download; the next one ends with the headers."""
        if self.sending is not None:
            self.headers_suffice = True
            self.sending.cancel()


def robots_request(
    url: str,
    origin: Origin,
    *,
    route: Route,
    user_agent: bytes | None,
    timeout: float,
    use_http_cache: bool,
    past_caches: bool,
) -> Transfer:
    """A plain GET of *url* over *route* (FET-01).

    *timeout* is in seconds. With *use_http_cache* off the HTTP cache is bypassed, and with
    *past_caches* every one on the way.
    """
    meta: dict[str, Any] = {**dict(route.meta), **_OWN_META, "download_timeout": timeout}
    if not use_http_cache:
        meta["dont_cache"] = True
    headers: dict[bytes, bytes] = {}
    if _ACCEPT_ENCODING is not None:
        headers[b"Accept-Encoding"] = _ACCEPT_ENCODING
    if user_agent:
        headers[b"User-Agent"] = user_agent
    if past_caches:
        headers[b"Cache-Control"] = b"no-cache"
    if route.proxy_authorization:
        headers[b"Proxy-Authorization"] = route.proxy_authorization
    request = Request(url, callback=NO_CALLBACK, meta=meta, headers=headers)
    never_sent = _CONDITIONAL_HEADERS
    if Origin.of(url) != origin:
        never_sent += _PRIVATE_HEADERS
    transfer = Transfer(request, f"robotspec@{origin}", never_sent)
    request.meta[TRANSFER] = transfer
    return transfer


def exchange_of(url: str, response: Response, transfer: Transfer) -> Exchange:
    """The exchange of the request for *url*, as received.

    Raises ``IgnoreRequest`` for a file that a signal handler of the user's has cut off, and
    ``TimeLimitError`` for any other response than a redirect whose body did not end (FET-08).
    """
    is_whole = response.headers.get("Content-Length") == b"%d" % len(response.body)
    is_cut_off = "download_stopped" in response.flags and not (transfer.stopped or is_whole)
    if is_cut_off and transfer.headers_suffice and not 300 <= response.status < 400:
        raise TimeLimitError("the body of the response did not end")
    if is_cut_off and 200 <= response.status < 300:  # the status decides about others
        raise IgnoreRequest("a signal handler of this crawl has stopped the download")
    lines = [(name, value) for name, values in dict.items(response.headers) for value in values]
    lines += [(b"Content-Encoding", value) for value in _codings(response, transfer)]
    return Exchange(
        url,
        response.status,
        tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in lines),
        response.body,
        stopped=transfer.stopped,
        incomplete=is_cut_off or "dataloss" in response.flags,
    )


def _codings(response: Response, transfer: Transfer) -> list[bytes]:
    """The codings of the body: of the content, then of the transfer.

    Handlers undo ``chunked``, but not all undo ``Transfer-Encoding: gzip, chunked``.
    """
    values = response.headers.getlist("Transfer-Encoding")
    names = [name.strip() for value in values for name in value.split(b",")]
    return [*transfer.content_encoding, *(name for name in names if name.lower() != b"chunked")]


def _open_files_limit() -> float:
    try:
        import resource
    except ImportError:  # Windows: connections are not files
        return inf
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return inf if limit == resource.RLIM_INFINITY else limit


class Downloads:
    """Downloads robots.txt files for one crawl.

    Each download ends after *max_size* bytes (FMT-12). The body of a redirect has a third of
    *timeout* (seconds that *loop_time* counts), so that there is time to follow it.
    """

    def __init__(
        self, crawler: Crawler, max_size: int, loop_time: LoopTime, timeout: float
    ) -> None:
        self._crawler = crawler
        self._max_size = max_size
        self._loop_time = loop_time
        self._timeout = timeout
        self._open = 0
        self._handlers = (
            (self._begin, signals.request_reached_downloader),
            (self._headers_received, signals.headers_received),
            (self._bytes_received, signals.bytes_received),
            (self._response_downloaded, signals.response_downloaded),
        )

    @contextmanager
    def watched(self, *, use_idle: bool = True) -> Iterator[None]:
        """Watch the downloads of a fetch; *use_idle*: over connections that are open."""
        manager = self._crawler.signals
        self._close_idle_connections(all_of_them=not use_idle)
        self._open += 1
        if self._open == 1:  # pages cost nothing while no robots.txt is fetched
            for handler, signal in self._handlers:
                manager.connect(handler, signal)
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                for handler, signal in self._handlers:
                    manager.disconnect(handler, signal)

    async def send(self, transfer: Transfer) -> Response:
        """The response to a robots.txt request, with its body still encoded."""
        engine = self._crawler.engine
        release_slot = _compat.extra_download_slot(engine)
        # A slot has no delay if its setting says so while it is made.
        self._slots[transfer.slot] = {"delay": 0.0, "concurrency": 8}
        try:
            return await _compat.download(engine, transfer.request)
        except IgnoreRequest:
            if not transfer.headers_suffice:
                raise
            return await _compat.download(engine, transfer.request)
        finally:
            transfer.end_body()
            if transfer.sending is not None:
                transfer.sending.cancel()  # given up: not to be sent later
            self._slots.pop(transfer.slot, None)
            _compat.drop_slot(engine, transfer.slot)  # of all known origins, half of the memory
            release_slot()

    @cached_property
    def _slots(self) -> dict[str, Any]:
        """Settings of download slots, which exist with the engine."""
        return _compat.name_slots(self._crawler.engine, TRANSFER)

    def _close_idle_connections(self, *, all_of_them: bool) -> None:
        """Leave connections to the many origins of a robots.txt.

        Idle ones are too many where they are half of those that this process may open.
        """
        idle = _compat.idle_connections(self._crawler.engine)
        if all_of_them or sum(idle.values()) > _open_files_limit() / 2:
            for pool in idle:
                pool.closeCachedConnections()
        if all_of_them:
            from scrapy_robotspec.plugin._compat_rare import close_idle_sessions

            close_idle_sessions(self._crawler.engine)

    # --- the downloader's signals

    def _begin(self, request: Request) -> None:
        if TRANSFER in request.meta:
            request.meta[TRANSFER].send_as(request)

    def _headers_received(self, headers: Headers, request: Request) -> None:
        """FET-03: status and Location decide. Which status it is, no signal says."""
        transfer: Transfer | None = request.meta.get(TRANSFER)
        if transfer is not None and b"Location" in headers:
            if transfer.headers_suffice:
                raise StopDownload(fail=False)
            transfer.body = Deferred()
            limited = self._loop_time.limit(transfer.body, self._timeout / 3)
            limited.addErrback(transfer.give_body_up)

    def _bytes_received(self, data: bytes, request: Request) -> None:
        transfer: Transfer | None = request.meta.get(TRANSFER)
        if transfer is not None:
            transfer.received += len(data)
            if transfer.received > self._max_size:
                transfer.stopped = True
                raise StopDownload(fail=False)

    def _response_downloaded(self, response: Response, request: Request) -> None:
        """Keep the body encoded: it is decoded up to the limit in ``access/decoding.py``."""
        if TRANSFER in request.meta:
            request.meta[TRANSFER].content_encoding = response.headers.getlist("Content-Encoding")
            response.headers.pop("Content-Encoding", None)
