"""One robots.txt with its redirects, through Scrapy's downloader.

What belongs here: the requests that are sent, the hops between them, the deadline, the size limit.
What an answer means does not (``access/outcome.py``), nor when to ask (``access/policy.py``).
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http.request import NO_CALLBACK
from twisted.internet.defer import CancelledError, Deferred
from w3lib.url import safe_url_string

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop
from scrapy_robotspec.access.private_hosts import is_private
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.decoding import decode_prefix

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from twisted.python.failure import Failure

    from scrapy_robotspec.plugin.settings.settings import Settings

#: Marks our requests and carries what is noted while one is downloaded.
META_KEY = "_robotspec_download"

#: Everything between the engine and the network that would answer, change or repeat the request.
_OWN_META = {
    "dont_obey_robotstxt": True,
    "dont_redirect": True,
    "dont_retry": True,
    "dont_merge_cookies": True,
    "allow_offsite": True,
    "autothrottle_dont_adjust_delay": True,
    "download_maxsize": 0,  # the limit is ours: Scrapy's would make an error of a long file
    "download_warnsize": 0,
}
#: What we can decode up to a limit, so that no bomb is ever unpacked.
_ACCEPT_ENCODING = "gzip, deflate"
#: A redirect's user info, host and port, as generously as anybody reads them. A host has 255 octets
#: at most; with one of thousands Scrapy's mapping of names would keep the reactor for seconds.
_AUTHORITY = re.compile(r"[^/\\?#]*[/\\\t]{2,}([^/\\?#]*)")
_LONGEST_AUTHORITY = 1000
#: Of the URL of a hop so much is kept.
_LONGEST_HOP = 2000
_PROBE_PAUSE = 86400.0
_PROBES_REMEMBERED = 10_000


class _Download:
    """What is noted of one of our requests while it is under way."""

    __slots__ = ("encodings", "received", "stopped")

    def __init__(self) -> None:
        self.received = 0
        self.stopped = False
        self.encodings: list[bytes] = []


class Fetcher:
    """Fetches robots.txt files for one crawler; see :meth:`fetch`."""

    def __init__(self, crawler: Crawler, settings: Settings, stats: StatsCollector) -> None:
        self._crawler = crawler
        self._settings = settings
        self._stats = stats
        self._running = 0
        self._probed: dict[Origin, float] = {}
        self._own_meta = dict(_OWN_META)
        if not crawler.settings.getbool("HTTPCACHE_IGNORE_MISSING"):
            # A cached answer has no lifetime that we could trust. Offline there is nothing else.
            self._own_meta["dont_cache"] = True

    def fetch(
        self, origin: Origin, page_request: Request, *, background: bool, now: float
    ) -> Deferred[FetchResult]:
        """Ask for the robots.txt of *origin* because of the request *cause* (FET-01 to FET-07).

        Never fails but by being cancelled: whatever goes wrong is in the Attempt.
        """
        assert self._crawler.engine is not None
        chain = _Chain(self, origin, page_request, background=background, now=now)
        release_slot = _compat.extra_download_slot(self._crawler.engine)
        self._watch()
        fetching = _compat.deferred(chain.run())
        timer = _compat.call_later(self._settings.fetch_timeout, chain.expire, fetching)

        def finish(result: FetchResult | Failure) -> FetchResult | Failure:
            timer.cancel()
            release_slot()
            self._unwatch()
            return chain.outcome(result)

        fetching.addBoth(finish)
        return fetching

    # --- what is noted while our requests are downloaded

    def _watch(self) -> None:
        """Listen to the downloader, only while a robots.txt is under way: it speaks much."""
        self._running += 1
        if self._running == 1:
            connect = self._crawler.signals.connect
            connect(self._bytes_received, signals.bytes_received)
            connect(self._response_downloaded, signals.response_downloaded)

    def _unwatch(self) -> None:
        self._running -= 1
        if self._running == 0:
            disconnect = self._crawler.signals.disconnect
            disconnect(self._bytes_received, signals.bytes_received)
            disconnect(self._response_downloaded, signals.response_downloaded)

    def _bytes_received(self, data: bytes, request: Request) -> None:
        download = request.meta.get(META_KEY)
        if download is None:
            return
        download.received += len(data)
        if download.received > self._settings.max_size:  # FMT-12
            download.stopped = True
            raise StopDownload(fail=False)

    def _response_downloaded(self, response: Response, request: Request) -> None:
        """Keep the body as it came: it is unpacked here, up to the limit, and nowhere else."""
        download = request.meta.get(META_KEY)
        if download is None:
            return
        download.encodings = [
            name.strip().lower()
            for value in response.headers.getlist("Content-Encoding")
            for name in value.split(b",")
        ]
        response.headers.pop("Content-Encoding", None)

    def probe_due(self, origin: Origin, now: float) -> bool:
        """Whether *origin* may be probed for misplaced server errors: once a day (FET-15)."""
        if not self._settings.probe_server_errors:
            return False
        if now < self._probed.get(origin, 0.0) + _PROBE_PAUSE:
            return False
        if len(self._probed) >= _PROBES_REMEMBERED:
            self._probed.pop(next(iter(self._probed)))
        self._probed[origin] = now
        return True


class _Chain:
    """One robots.txt request with the redirects it leads to."""

    def __init__(
        self,
        fetcher: Fetcher,
        origin: Origin,
        page_request: Request,
        *,
        background: bool,
        now: float,
    ) -> None:
        self._fetcher = fetcher
        self._crawler = fetcher._crawler
        self._settings = fetcher._settings
        self._origin = origin
        self._page_request = page_request
        self._background = background
        self._now = now
        self._hops: list[Hop] = []
        self._expired = False

    def expire(self, fetching: Deferred[FetchResult]) -> None:
        self._expired = True
        fetching.cancel()

    def outcome(self, result: FetchResult | Failure) -> FetchResult | Failure:
        """Count what came of it; a failure becomes an Attempt unless we were cancelled."""
        stats = self._fetcher._stats
        stats.inc_value("robotstxt/request_count")
        if self._hops:
            stats.inc_value("robotspec/redirect_hops", len(self._hops))
        if isinstance(result, FetchResult):
            stats.inc_value("robotstxt/response_count")
            stats.inc_value(f"robotstxt/response_status_count/{result.status}")
            if result.truncated:
                stats.inc_value("robotspec/truncated")
            return result
        if self._expired:
            error = f"no answer within {self._settings.fetch_timeout:g} s"
            stats.inc_value("robotstxt/exception_count/timeout")
            return FetchResult(error=error, hops=tuple(self._hops))
        if isinstance(result.value, CancelledError):
            return result
        if not isinstance(result.value, IgnoreRequest):
            stats.inc_value(f"robotstxt/exception_count/{result.type}")
        return FetchResult(error=_in_one_line(result.value), hops=tuple(self._hops))

    async def run(self) -> FetchResult:
        url = self._origin.robots_url
        seen = {url}
        while True:
            response = await self._download(url)
            if not 300 <= response.status < 400:
                break
            target = _target(url, response)
            self._hops.append(_hop(url, response.status, target))
            redirect_error = self._end_of_chain(target, seen)
            if redirect_error:
                return self._attempt(response, redirect_error)
            assert target is not None
            seen.add(target)
            url = target
        misplaced = response.status >= 500 and await self._misplaced_errors()
        return self._attempt(response, "server errors for missing pages" if misplaced else None)

    def _end_of_chain(self, target: str | None, seen: set[str]) -> str | None:
        """Why the chain ends here and counts as a 404, or None (FET-03, FET-07, FET-18)."""
        if target is None:
            return "no location"
        origin = Origin.of(target)
        if origin is None or not target.startswith(("http://", "https://")):
            return "foreign scheme"
        if self._settings.refuse_private_redirects and _leads_inside(self._origin, origin):
            return "private address"
        if target in seen:
            return "loop"
        if len(self._hops) > self._settings.max_redirects:
            return "too many redirects"
        return None

    async def _download(self, url: str, **meta: Any) -> Response:
        assert self._crawler.engine is not None
        request = self._request(url)
        request.meta.update(meta)
        response: Response = await _compat.as_future(
            _compat.download(self._crawler.engine, request)
        )
        response.request = request
        return response

    def _request(self, url: str) -> Request:
        settings, page_request = self._settings, self._page_request
        meta = {
            key: page_request.meta[key] for key in settings.inherit_meta if key in page_request.meta
        }
        meta.update(
            self._fetcher._own_meta,
            download_timeout=settings.fetch_timeout,
            download_slot=self._slot(url),
        )
        meta[META_KEY] = _Download()
        request = Request(url, callback=NO_CALLBACK, meta=meta, headers=self._headers(meta))
        if Origin.of(url) != self._origin:
            # Empty lists, not missing headers: HttpAuth and the default headers of the settings
            # would put them back (FET-18).
            request.headers.setlist("Authorization", [])
            request.headers.setlist("Cookie", [])
        return request

    def _headers(self, meta: dict[str, Any]) -> dict[bytes, bytes | str]:
        headers: dict[bytes, bytes | str] = {b"Accept-Encoding": _ACCEPT_ENCODING}
        agent = self._page_request.headers.get(b"User-Agent")
        if agent:
            headers[b"User-Agent"] = agent
        if "proxy" in meta and "_auth_proxy" in self._page_request.meta:
            # A request that went through HttpProxy before has its credentials taken apart.
            meta["_auth_proxy"] = self._page_request.meta["_auth_proxy"]
            credentials = self._page_request.headers.get(b"Proxy-Authorization")
            if credentials:
                headers[b"Proxy-Authorization"] = credentials
        return headers

    def _slot(self, url: str) -> str:
        """The page's download slot for a first fetch that nothing stands before, else our own.

        So a first fetch is spaced like a page, and a silent robots.txt holds no other origin's
        pages that share the slot.
        """
        engine = self._crawler.engine
        assert engine is not None
        origin = Origin.of(url)
        first = not self._background and origin == self._origin
        if first and _compat.slot_is_idle(engine, self._page_request):
            return engine.downloader.get_slot_key(self._page_request)
        return f"robotspec@{origin}"

    async def _misplaced_errors(self) -> bool:
        """FET-15: a page that surely is missing answers 5xx, while ``/`` answers 2xx."""
        if not self._fetcher.probe_due(self._origin, self._now):
            return False
        base = self._origin.robots_url.removesuffix("robots.txt")
        missing = await self._download(f"{base}{secrets.token_hex(16)}")
        if missing.status < 500:
            return False
        root = await self._download(base)
        return 200 <= root.status < 300

    def _attempt(self, response: Response, redirect_error: str | None) -> FetchResult:
        assert response.request is not None
        download: _Download = response.request.meta[META_KEY]
        limit = self._settings.max_size + 1  # one more shows that there was more
        body, whole = decode_prefix(response.body, download.encodings, limit)
        lost = "dataloss" in response.flags or not (whole or download.stopped)
        return FetchResult(
            status=response.status,
            body=body,
            headers=_headers_of(response),
            hops=tuple(self._hops),
            redirect_error=redirect_error,
            complete=download.stopped or not lost,
            truncated=len(body) >= limit,
        )


def _hop(url: str, status: int, target: str | None) -> Hop:
    return Hop(url[:_LONGEST_HOP], status, target and target[:_LONGEST_HOP])


def _leads_inside(first: Origin, target: Origin) -> bool:
    return is_private(target.host) and not is_private(first.host)


def _target(url: str, response: Response) -> str | None:
    """Where a redirect leads to, without its fragment, or None."""
    location = response.headers.get(b"Location")
    if not location or response.status == 304:
        return None
    text = location.decode("utf-8", "replace").strip()
    authority = _AUTHORITY.match(text)
    if authority is not None and len(authority[1]) > _LONGEST_AUTHORITY:
        return None
    try:
        target = urljoin(url, safe_url_string(text))
        return urldefrag(target).url
    except ValueError:
        return None


def _headers_of(response: Response) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if isinstance(values, list)
    }


def _in_one_line(error: BaseException | None) -> str:
    """What to tell people of *error*: its kind and its first words (SAF-04)."""
    words = " ".join(str(error).split())[:200]
    kind = type(error).__name__
    text = f"{kind}: {words}" if words else kind
    return ascii(text)[1:-1]
