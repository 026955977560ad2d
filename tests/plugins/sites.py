"""Sites with every kind of robots.txt response, and what a crawl of them must come to."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from tests.support.crawl import Result, crawl
from tests.support.responses import (
    Answer,
    Exchange,
    http,
    once,
    raw,
    redirect,
    reply,
    reset,
    silence,
    until,
)
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
#: The limit cuts the last rule off.
TOO_LONG = f"{RULES}#{'x' * 600_000}\nDisallow: /yes\n"
#: Attempts for an unreachable robots.txt follow quickly.
QUICK = {"ROBOTSPEC_RETRY_DELAY": 0.2, "ROBOTSPEC_RETRY_MAX_DELAY": 0.4, "ROBOTSPEC_RETRY_TIMES": 1}
#: Pages of each site, of each kind.
PAGES = 5


def check_silent_sites(server: Server, settings: Mapping[str, Any]) -> None:
    """Sites that never answer for robots.txt delay no page of another, and are given up.

    There are more of them than ``CONCURRENT_REQUESTS``.
    """
    silent = [server.site(f"127.0.2.{n}", silence()) for n in range(1, 9)]
    fast = server.site("127.0.3.1", RULES)
    urls = [*(site.url("/") for site in silent), *(fast.url(f"/yes{n}") for n in range(10))]
    limits = {"CONCURRENT_REQUESTS": 4, "ROBOTSPEC_FETCH_TIMEOUT": 5, "ROBOTSPEC_RETRY_TIMES": 0}
    result = crawl(urls, {**settings, **limits})
    ends = [event["kind"] for event in result.events if event["kind"] in ("response", "error")]
    assert ends == ["response"] * 10 + ["error"] * 8
    assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}


def check_busy_site(server: Server, settings: Mapping[str, Any], mode: str = "asyncio") -> None:
    """Pages in all places of a site keep no robots.txt from it, neither its own nor a hop.

    They are answered once both have arrived.
    """
    moved = "/moved/robots.txt"
    busy: Site

    def both_asked() -> bool:
        return bool(busy.robots_asked and moved in busy.pages_asked)

    pages = {f"/held{n}": once(both_asked, reply()) for n in range(2)}
    busy = server.site("127.0.2.1", RULES, pages={**pages, moved: reply(RULES)})
    other = server.site("127.0.2.2", redirect(busy.url(moved)))
    held = [{"url": busy.url(path), "meta": {"dont_obey_robotstxt": True}} for path in pages]
    paths = ("/yes", "/no")
    limits = {"CONCURRENT_REQUESTS_PER_DOMAIN": 2, "ROBOTSPEC_FETCH_TIMEOUT": 4}
    urls = [site.url(path) for path in paths for site in (busy, other)]
    result = crawl([*held, *urls], {**settings, **limits, "ROBOTSPEC_RETRY_TIMES": 0}, mode=mode)
    assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}
    assert sorted(result.errors) == sorted(url for url in urls if url.endswith("/no"))
    assert (len(busy.robots_asked), len(other.robots_asked)) == (1, 1)


def check_pages_at_once(server: Server, settings: Mapping[str, Any]) -> None:
    """No more pages than the user allows are at a site at once, and no fewer."""
    most = now = 0

    async def count(exchange: Exchange) -> bool:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.3)
        now -= 1
        return await reply()(exchange)

    site = server.site("127.0.2.1", RULES, page=count)
    urls = [site.url(f"/{n}") for n in range(20)]
    result = crawl(urls, {**settings, "CONCURRENT_REQUESTS_PER_DOMAIN": 3})
    assert result.ended_once(urls)
    assert most == 3


def need(module: str, project: str) -> None:
    """Skip the tests of a file where the plugin *project* is not installed."""
    if find_spec(module) is None:
        reason = f"{project} is not installed: tox -e plugins runs this"
        pytest.skip(reason, allow_module_level=True)


def pack_as_requested(body: bytes) -> Answer:
    """*body* in the coding that the request asks for and that packs best."""
    codings: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress}
    if find_spec("brotli"):
        codings["br"] = import_module("brotli").compress
    if find_spec("backports") and find_spec("backports.zstd"):
        codings["zstd"] = import_module("backports.zstd").compress

    async def answer(exchange: Exchange) -> bool:
        accepted = re.split(r"[\s,]+", exchange.asked.header("accept-encoding") or "")
        best = next((name for name in ("zstd", "br", "gzip") if name in accepted), None)
        if best is None:
            return await reply(body)(exchange)
        return await reply(codings[best](body), headers=[("Content-Encoding", best)])(exchange)

    return answer


#: Responses that break HTTP, by the words of docs/compatibility.md.
_BREAKS: dict[str, Callable[[int, list[tuple[str, str]], bytes], bytes]] = {
    "chunks": lambda status, more, body: http(
        status, [*more, ("Transfer-Encoding", "chunked")], b"zz\r\n" + body + b"\r\n0\r\n\r\n"
    ),
    "bytes": lambda status, more, body: http(
        status, [*more, ("Content-Length", str(len(body)))], body + b"more of it\n"
    ),
    "header": lambda status, more, body: http(
        status, [*more, ("Content-Length", str(len(body)))], body
    ).replace(b"Content-Length", b"X-No-Colon\r\nContent-Length"),
}
#: Handler -> the breaks after which it does not tell the status, as the page says.
_UNREACHABLE = {
    "HTTP/1.1": "",
    "aiohttp": "chunks bytes header",
    **dict.fromkeys(("httpx", "curl_cffi", "httpx2", "niquests"), "chunks header"),
    **dict.fromkeys(("pyreqwest", "wreq"), "header"),
}


def check_breaks(server: Server, settings: Mapping[str, Any], handler: str) -> None:
    """A response that breaks HTTP counts as the page says for *handler*."""
    there = server.site("127.0.2.1", RULES)
    wanted: list[list[str]] = []
    sites: list[Site] = []
    for name, answer_of in _BREAKS.items():
        for status, paths in ((301, ["/yes"]), (403, ["/no", "/yes"]), (404, ["/no", "/yes"])):
            more = [("Location", there.url("/robots.txt"))] if status == 301 else []
            answer = raw(answer_of(status, more, RULES.encode()))
            sites.append(server.site(f"127.0.1.{len(sites) + 1}", answer))
            wanted.append([] if name in _UNREACHABLE[handler] else paths)
    at_once = {"ROBOTSPEC_RETRY_TIMES": 0, "ROBOTSPEC_HOLD_TIMEOUT": 0}
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    result = crawl(urls, {**settings, **at_once})
    assert result.ended_once(urls)
    assert [sorted(site.pages_asked) for site in sites] == wanted


class Sites:
    """Sites that answer for robots.txt in different ways, each with pages of two kinds."""

    def __init__(self, server: Server, *, unreachable: bool = True) -> None:
        packed = reply(gzip.compress(RULES.encode()), headers=[("Content-Encoding", "gzip")])
        robots: dict[str, Answer] = {
            "rules": reply(RULES),
            "moved": redirect("/moved/robots.txt"),
            "missing": reply("User-agent: *\nDisallow: /\n", 404),
            "back soon": until(0.5, reply("", 503), reply(RULES)),
            "packed": packed,
            "packed as requested": pack_as_requested(RULES.encode()),
            "too long": reply(TOO_LONG),  # FMT-12
        }
        if unreachable:
            robots["broken"] = reset()
        self.by_name: dict[str, Site] = {
            name: server.site(f"127.0.1.{n}", answer, pages={"/moved/robots.txt": reply(RULES)})
            for n, (name, answer) in enumerate(robots.items(), 1)
        }

    @property
    def urls(self) -> list[str]:
        """All pages, in turn from each site."""
        paths = [f"/{kind}{n}" for n in range(PAGES) for kind in ("yes", "no")]
        return [site.url(path) for path in paths for site in self.by_name.values()]

    def pages_asked(self, name: str) -> list[str]:
        """The pages that a site was asked for."""
        return sorted(path for path in self.by_name[name].pages_asked if "robots" not in path)

    def check_pages(self) -> None:
        """The sites have seen the allowed pages, each once, and no other."""
        allowed = sorted(f"/yes{n}" for n in range(PAGES))
        everything = sorted([*allowed, *(f"/no{n}" for n in range(PAGES))])
        expected: Mapping[str, Any] = {
            name: {"missing": everything, "broken": []}.get(name, allowed) for name in self.by_name
        }
        assert {name: self.pages_asked(name) for name in self.by_name} == expected

    def check(self, result: Result) -> None:
        """Each request has ended once, and the sites have seen the allowed ones, each once."""
        self.check_pages()
        assert result.ended_once(self.urls)
        assert "Traceback" not in result.log
        errors = {error["type"] for error in result.errors.values()}
        assert errors <= {"ForbiddenByRobots", "RobotsUnreachable"}
