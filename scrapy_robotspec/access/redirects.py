"""Where a redirect of a robots.txt leads."""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin

from w3lib.url import safe_url_string

from scrapy_robotspec.access.origin import MAX_MAPPED, NOT_IN_HOSTS, Origin, without_user_info
from scrapy_robotspec.access.private_hosts import is_private

#: User info, host and port of a Location, as leniently as any client reads them.
_AUTHORITY = re.compile(r"[^/\\?#]*[/\\\t]{2,}([^/\\?#]*)")
#: A Location that begins an absolute URL and lacks a host.
_NO_HOST = re.compile(r"(?:https?:)?//(?:[/?#]|$)", re.IGNORECASE)


def redirect_target(url: str, location: str) -> str | None:
    """The target of a redirect from *url*, or None.

    It has no fragment and no user info (LOC-10). *location*: the header's value, decoded as
    Latin-1.
    """
    if not location:
        return None
    text = location.encode("latin-1").decode("utf-8", "replace").strip()
    authority = _AUTHORITY.match(text)
    if authority is not None and len(authority[1]) > MAX_MAPPED:
        return None
    if _NO_HOST.match(text):  # urljoin would take the host of *url*
        return None
    try:
        target = without_user_info(urldefrag(urljoin(url, safe_url_string(text))).url)
    except ValueError:
        return None
    origin = Origin.of(target)
    return None if origin is not None and NOT_IN_HOSTS.search(origin.host) else target


def leads_inside(first: Origin, target: str) -> bool:
    """Whether *target* is inside a private network, and *first* is not (SAF-06)."""
    origin = Origin.of(target)
    return origin is not None and is_private(origin.host) and not is_private(first.host)
