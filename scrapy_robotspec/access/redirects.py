"""RedirectChain: the redirects of one robots.txt request.

Sends nothing: the caller downloads ``url`` and passes the response on. ``outcome.py`` decides about
the last response.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from w3lib.url import safe_url_string

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, without_user_info
from scrapy_robotspec.access.private_hosts import is_private

if TYPE_CHECKING:
    from scrapy_robotspec.access.exchange import Exchange

#: User info, host and port of a Location, as leniently as any client reads them.
_AUTHORITY = re.compile(r"[^/\\?#]*[/\\\t]{2,}([^/\\?#]*)")
#: A Location that begins an absolute URL and lacks a host.
_NO_HOST = re.compile(r"(?:https?:)?//(?:[/?#]|$)", re.IGNORECASE)
#: Characters that no host contains; with one of them a Location is unusable (FET-07).
_NOT_IN_HOSTS = re.compile(r"""[\x00-\x20"#%<>@\\^`{|}\x7f]""")
#: Max length of user info, host and port (characters). A host has 255 at most; mapping one of
#: thousands to ASCII would block the reactor for seconds.
_MAX_AUTHORITY = 1000
#: Max stored length of a redirect URL (characters).
_MAX_HOP_URL = 2000


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
        self.hops: list[Hop] = []
        self.error: str | None = None
        """Why the chain counts as a 404."""

    def follow(self, response: Exchange) -> bool:
        """Take the response to ``url``; whether there is another URL to request."""
        if not 300 <= response.status < 400:
            return False
        target = redirect_target(self.url, response)
        self.hops.append(
            Hop(self.url[:_MAX_HOP_URL], response.status, target and target[:_MAX_HOP_URL])
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
        if origin is None or not target.startswith(("http://", "https://")):
            return "foreign scheme"
        if self._limits.refuse_private and _leads_inside(self._origin, origin):
            return "private address"
        if self._limits.recognises_loops and target in self._requested:
            return "loop"
        if len(self.hops) > self._limits.max_redirects:
            return "too many redirects"
        return None


def redirect_target(url: str, response: Exchange) -> str | None:
    """The target without fragment and user info (LOC-10), or None."""
    locations = [value for name, value in response.headers if name.lower() == "location"]
    if not locations or not locations[-1] or response.status == 304:
        return None
    text = locations[-1].encode("latin-1").decode("utf-8", "replace").strip()
    authority = _AUTHORITY.match(text)
    if authority is not None and len(authority[1]) > _MAX_AUTHORITY:
        return None
    if _NO_HOST.match(text):  # urljoin would take the host of *url*
        return None
    try:
        target = without_user_info(urldefrag(urljoin(url, safe_url_string(text))).url)
    except ValueError:
        return None
    origin = Origin.of(target)
    return None if origin is not None and _NOT_IN_HOSTS.search(origin.host) else target


def _leads_inside(first: Origin, target: Origin) -> bool:
    return is_private(target.host) and not is_private(first.host)
