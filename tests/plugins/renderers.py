"""Local servers with the APIs of services that download pages for a crawler.

All follow redirects themselves, as the real ones do.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import Any, NamedTuple

from tests.support.responses import Answer, Exchange, reply

#: Pages that are downloaded at once; the event loop's own threads would be too few.
_THREADS = ThreadPoolExecutor(32)
JSON = [("Content-Type", "application/json")]


class Page(NamedTuple):
    """The result of one URL."""

    url: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class _Unfollowed(urllib.request.HTTPRedirectHandler):
    """Returns redirects instead of following them."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def download(url: str, *, follow: bool) -> Page:
    """GET *url*; blocks."""
    handlers = [urllib.request.ProxyHandler({}), *([] if follow else [_Unfollowed()])]
    try:
        response = urllib.request.build_opener(*handlers).open(url, timeout=20)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return Page(response.url, response.status, response.headers.items(), response.read())


def renderer(respond: Callable[[dict[str, Any]], dict[str, Any]], seen: list[Any]) -> Answer:
    """An answer that passes the JSON of a request to *respond*, in a thread; *seen* keeps it."""

    async def answer(exchange: Exchange) -> bool:
        size = int(exchange.asked.header("content-length") or 0)
        arguments = json.loads(await exchange.reader.readexactly(size))
        seen.append(arguments)
        loop = asyncio.get_running_loop()
        response = await loop.run_in_executor(_THREADS, respond, arguments)
        return await reply(json.dumps(response), headers=JSON)(exchange)

    return answer


def splash(arguments: dict[str, Any]) -> dict[str, Any]:
    """``render.json``: the page after all redirects, with its URL."""
    page = download(arguments["url"], follow=True)
    return {"url": page.url, "requestedUrl": arguments["url"], "html": page.body.decode()}


def zyte(arguments: dict[str, Any]) -> dict[str, Any]:
    """``extract`` with ``httpResponseBody``."""
    page = download(arguments["url"], follow=arguments.get("followRedirect", True))
    packed = dict(page.headers).get("Content-Encoding") == "gzip"
    body = gzip.decompress(page.body) if packed else page.body
    return {
        "url": page.url,
        "statusCode": page.status,
        "httpResponseHeaders": [{"name": name, "value": value} for name, value in page.headers],
        "httpResponseBody": base64.b64encode(body).decode(),
    }


def flaresolverr(arguments: dict[str, Any]) -> dict[str, Any]:
    """``request.get``: a browser's view of the page."""
    page = download(arguments["url"], follow=True)
    html = page.body.decode()
    if "text/plain" in dict(page.headers).get("Content-Type", ""):
        html = f"<html><head></head><body><pre>{escape(html)}</pre></body></html>"
    solution = {"url": page.url, "status": page.status, "headers": {}, "response": html}
    times = {"startTimestamp": 0, "endTimestamp": 1, "version": "3.4.0"}
    return {
        "status": "ok",
        "message": "",
        "solution": {**solution, "cookies": [], "userAgent": "Mozilla/5.0"},
        **times,
    }
