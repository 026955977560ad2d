"""Sent URLs: download handlers that change the URL of a request (PAT-13).

Scrapy's handlers for Twisted send a URL unchanged. Others remove ``.`` and ``..`` from its path,
and yarl, which aiohttp uses, also decodes characters: ``/a%40b`` is sent as ``/a@b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    #: The URL that is sent for a request.
    Speller = Callable[[Request], str]

_AIOHTTP = "AiohttpDownloadHandler"
_DOTS = {".": ".", "%2e": ".", "..": "..", "%2e.": "..", ".%2e": "..", "%2e%2e": ".."}


def find_speller(crawler: Crawler) -> Speller | None:
    """How this crawl's HTTP handlers spell URLs; None: unchanged."""
    handlers = _compat.http_handlers(crawler)
    if any(_AIOHTTP in names for names in handlers):
        return spell_with_yarl
    return None if all(map(_compat.is_twisteds, handlers)) else spell_without_dots


def spell_with_yarl(request: Request) -> str:
    """The URL of *request* as aiohttp sends it."""
    if request.meta.get("verbatim_url"):
        return request.url
    from yarl import URL  # comes with aiohttp

    try:
        return str(URL(request.url))
    except ValueError:  # then nothing is sent
        return request.url


def spell_without_dots(request: Request) -> str:
    """The URL of *request* without dot segments (RFC 3986, 5.2.4)."""
    url = request.url
    if "/." not in url and "/%2" not in url:  # hot path
        return url
    parts = urlsplit(url)
    kept: list[str] = []
    segments = parts.path.split("/")[1:]
    for segment in segments:
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
        elif dots == ".." and kept:
            kept.pop()
    if segments and segments[-1].lower() in _DOTS:
        kept.append("")
    return parts._replace(path="/" + "/".join(kept)).geturl()
