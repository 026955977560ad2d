"""The sites of a plan on the loopback server, and a record of what they were asked for."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any

from tests.crawl.middlewares import CRAWL_HEADER
from tests.random_crawls.plan import SECTIONS, USE, Page, Plan, RobotsResponse, Site
from tests.support import responses
from tests.support.responses import Answer, Exchange, after, raw, redirect, reply, silence
from tests.support.server import Server

_HTML = [("Content-Type", "text/html")]
_CUT = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /")
_PAGE_PATH = re.compile(rf"/[{''.join(SECTIONS)}]/[a-z0-9-]+/[0-9]+")
_PAGE = reply("<html>page</html>", headers=_HTML)
_PAGES: dict[str, Answer] = {
    "ok": _PAGE,
    "slow": after(0.4, _PAGE),
    "error": reply("", 503),
    "broken": _CUT,
    "silent": silence(),
    "private": reply("page", headers=[("Content-Usage", f"{USE}=n")]),
}


@dataclass(eq=False)
class Served:
    """A request for a robots.txt. Times are epoch seconds."""

    site: int
    crawl: str
    response: RobotsResponse
    at: float
    sent: float | None = None
    """When the last response of the chain began to leave; None: never."""


@dataclass(frozen=True)
class Asked:
    """A request for a page."""

    at: float
    crawl: str
    site: int
    section: str
    page: Page
    url: str
    override: Any
    """The user's override for the site."""


class World:
    """The sites of *plan* on *server*."""

    def __init__(self, plan: Plan, server: Server) -> None:
        self.served: list[Served] = []
        self._plan, self._server = plan, server
        self._sites = []
        for number, site in enumerate(plan.sites):
            port, robots = 80 if site.is_named else None, self._robots(number, site)
            self._sites.append(server.site(site.host, robots, page=self._page, port=port))

    def requests(self) -> list[tuple[float, str]]:
        """Time and URL of each request."""
        return [
            (asked.at, self._url(number, asked.path))
            for number, site in enumerate(self._sites)
            for asked in site.log
        ]

    def asked(self) -> list[Asked]:
        """The requests for pages, in order."""
        asked = [
            self._asked(number, request)
            for number, site in enumerate(self._sites)
            for request in site.log
            if _PAGE_PATH.fullmatch(request.path)
        ]
        return sorted(asked, key=lambda each: each.at)

    def _asked(self, site: int, request: responses.Asked) -> Asked:
        _, section, _, number = request.path.split("/")
        override = self._plan.settings["ROBOTSPEC_OVERRIDES"].get(self._plan.sites[site].host)
        at, crawl = self._server.came_at(request.at), _crawl_of(request)
        page, url = self._plan.page(int(number)), self._url(site, request.path)
        return Asked(at, crawl, site, section, page, url, override)

    def _url(self, site: int, path: str) -> str:
        return self._sites[site].url(path).replace(":80/", "/")

    def _robots(self, number: int, site: Site) -> Answer:
        async def answer(exchange: Exchange) -> bool:
            response = site.response(exchange.since)
            served = Served(number, _crawl_of(exchange.asked), response, exchange.asked.at)
            self.served.append(served)
            return await self._hop(exchange, len(self.served) - 1, response.hops)

        return answer

    async def _hop(self, exchange: Exchange, index: int, left: int) -> bool:
        """Redirect, with *left* hops to go, or send the response of ``served[index]``."""
        served = self.served[index]
        if left:
            sites, other = self._plan.sites, (served.site + left) % len(self._sites)
            if sites[other].is_named != sites[served.site].is_named:
                other = served.site
            return await redirect(self._url(other, f"/hop/{index}/{left - 1}"))(exchange)
        await asyncio.sleep(served.response.slow)
        served.sent = time.time()
        return await _answer_of(served.response)(exchange)

    async def _page(self, exchange: Exchange) -> bool:
        path = exchange.asked.path
        if not _PAGE_PATH.fullmatch(path) and not path.startswith("/hop/"):
            return await reply("", 404)(exchange)  # a probe
        _, section, way, number = path.split("/")
        if section == "hop":
            return await self._hop(exchange, int(way), int(number))
        if way.startswith("to-"):
            _, site, target = way.split("-")
            return await redirect(self._url(int(site), f"/{target}/ok/{number}"))(exchange)
        return await _PAGES[way](exchange)


def _crawl_of(request: responses.Asked) -> str:
    return request.header(CRAWL_HEADER.lower()) or ""


def _answer_of(response: RobotsResponse) -> Answer:
    if response.kind == "silent":
        return silence()
    if response.kind == "broken":
        return _CUT
    headers = [] if response.life is None else [("Cache-Control", f"max-age={response.life}")]
    if response.kind == "doubtful":
        return reply("<!doctypehtml><p>Sign in", response.status, [*_HTML, *headers])
    lines = ["# rules"]
    for name, group in response.groups.items():
        lines += ["", f"User-agent: {name}", "Disallow:"]
        lines += [f"Disallow: /{section}/" for section in group.closed]
        lines += [f"Content-Usage: /{section}/ {USE}=n" for section in group.unusable]
        lines += [] if group.delay is None else [f"Crawl-delay: {group.delay:g}"]
    return reply("\n".join(lines), response.status, headers)
