"""Exchanges: the requests for one robots.txt and their responses.

Sends nothing: the caller downloads a :class:`RedirectChain`'s ``url`` and passes the response on.
The last response becomes a ``FetchResult``; ``outcome.py`` decides about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.access.origin import Origin, is_web
from scrapy_robotspec.access.outcome import NOT_MODIFIED, FetchResult, Hop, depends_on_agent

if TYPE_CHECKING:
    from collections.abc import Mapping

#: RFC 9110 section 14.4:
#:     Content-Range = range-unit SP ( range-resp / unsatisfied-range )
#:     range-resp = incl-range "/" ( complete-length / "*" )
#:     incl-range = first-pos "-" last-pos
#: White space at the ends, and more than one blank, is accepted; numbers have 18 digits at most.
_CONTENT_RANGE = re.compile(r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*$", re.IGNORECASE)
#: Why a chain without an error of its own counts as a 404 (FET-15): two probes decided.
MISPLACED = "server errors for missing pages"
#: Max stored length of a redirect URL (characters).
_MAX_HOP_URL = 2000


@dataclass(frozen=True, slots=True)
class Exchange:
    """A response with the URL that was requested."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    """Names and values as received, decoded as Latin-1."""
    body: bytes = field(default=b"", repr=False)
    """Without transfer coding, with its content coding."""
    stopped: bool = False
    """Our own size limit ended the download (FMT-12)."""
    incomplete: bool = False
    """The download ended before the body did (FET-14)."""

    @property
    def fields(self) -> dict[str, str]:
        """The headers by lower-case name; repeated ones are joined by a comma."""
        fields: dict[str, str] = {}
        for name, value in self.headers:
            key = name.lower()
            fields[key] = f"{fields[key]}, {value}" if key in fields else value
        return fields


# --- redirects


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectLimits:
    """The settings that decide which redirects are followed."""

    max_redirects: int
    """FET-03."""
    refuse_private: bool = False
    """No redirect from a public host to a private address."""
    recognises_loops: bool = False
    """A URL already requested in the chain ends it at once (FET-03)."""


class RedirectChain:
    """The redirects of one robots.txt request (FET-03 to FET-07, FET-18)."""

    def __init__(self, origin: Origin, limits: RedirectLimits) -> None:
        self._origin = origin
        self._limits = limits
        self.url = origin.robots_url
        """The URL to request next."""
        self._requested = {self.url}
        self.hops: tuple[Hop, ...] = ()
        self.error: str | None = None
        """Why the chain counts as a 404."""
        self.varies = False
        """A redirect depends on the User-Agent (CAC-04)."""

    def follow(self, response: Exchange) -> bool:
        """Take the response to ``url``; whether there is another URL to request."""
        if not 300 <= response.status < 400 or response.status == NOT_MODIFIED:
            return False
        self.varies = self.varies or depends_on_agent(response.fields)
        from scrapy_robotspec.access.redirects import redirect_target  # few files need it

        locations = [value for name, value in response.headers if name.lower() == "location"]
        target = redirect_target(self.url, locations[-1]) if locations else None
        self.hops += (
            Hop(self.url[:_MAX_HOP_URL], response.status, target and target[:_MAX_HOP_URL]),
        )
        self.error = self._error(target)
        if self.error is not None:
            return False
        assert target is not None
        self._requested.add(target)
        self.url = target
        return True

    def _error(self, target: str | None) -> str | None:
        if target is None:
            return "no location"
        origin = Origin.of(target)
        if origin is None or not is_web(target):
            return "foreign scheme"
        if self._limits.refuse_private:
            from scrapy_robotspec.access.redirects import leads_inside

            if leads_inside(self._origin, target):
                return "private address"
        if self._limits.recognises_loops and target in self._requested:
            return "loop"
        if len(self.hops) > self._limits.max_redirects:
            return "too many redirects"
        return None


# --- the result


def result_of(
    exchange: Exchange, hops: tuple[Hop, ...], redirect_error: str | None, max_size: int
) -> FetchResult:
    """The result of a redirect chain that ended with *exchange*.

    *max_size* is the parsing limit in bytes.
    """
    fields = exchange.fields
    limit = max_size + 1  # one byte more shows that the file is longer
    body, whole = exchange.body[:limit], True
    if encodings := fields.get("content-encoding"):
        from scrapy_robotspec.access.decoding import decode_prefix

        body, whole = decode_prefix(exchange.body, encodings, limit)
    whole = whole and not exchange.incomplete and not is_partial(exchange.status, fields)
    return FetchResult(
        status=exchange.status,
        body=body,
        headers=fields,
        hops=hops,
        redirect_error=redirect_error,
        complete=exchange.stopped or whole,
        truncated=len(body) >= limit,
    )


def leading_product(user_agent: bytes | None) -> str:
    """The product name in a User-Agent header (CAC-04); ``-`` for none."""
    name = re.split(rb"[/ ]", (user_agent or b"").strip(), maxsplit=1)[0]
    return name.decode("latin-1").lower() or "-"


def is_partial(status: int, fields: Mapping[str, str]) -> bool:
    """Whether a 206 leaves bytes of the file out (FET-02)."""
    if status != 206:
        return False
    if fields.get("content-type", "").lower().startswith("multipart/byteranges"):
        return True
    found = _CONTENT_RANGE.match(fields.get("content-range", ""))
    if found is None:
        return False
    first, last, size = found.groups()
    return int(first) > 0 or (size != "*" and int(last) + 1 < int(size))
