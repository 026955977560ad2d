"""The local site: one Twisted web server, one port of 127.0.0.1 for each response.

``python -m example.site example.responses:ALL_RESPONSES`` prints one line of JSON, name → origin,
and serves until it is ended. With ``--log FILE`` each request is noted there as a line of JSON.
"""

from __future__ import annotations

import argparse
import html
import json
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

from twisted.internet import reactor  # noqa: TID251 - a program of its own, that always has one
from twisted.internet.error import CannotListenError
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from twisted.web.util import redirectTo

from example.responses import SITEMAP, Visit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from twisted.internet.interfaces import IListeningPort

    from example.responses import Answer, Case

#: The first port that is tried; the names of a table take the following ones in their order.
FIRST_PORT = 8401


class OriginResource(Resource):
    """All of one origin: robots.txt and its redirects by the case, any other path a page."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, name: str, case: Case, origins: Mapping[str, str], log: TextIO | None):
        super().__init__()
        self.name, self.case, self.origins, self.log = name, case, origins, log
        self.asked = 0
        self.first = 0.0

    def render(self, request: Request) -> int | bytes:
        """Twisted's entry for a request of any method."""
        path = request.uri.decode("latin-1")
        self.note(path)
        if path == "/robots.txt" or path.startswith("/hop/"):
            answer = self.robots(path)
            reactor.callLater(answer.delay, send, request, answer)
            return NOT_DONE_YET
        if path == SITEMAP:
            request.setHeader("Content-Type", "application/xml")
            return self.sitemap().encode()
        request.setHeader("Content-Type", "text/html; charset=utf-8")
        if usage := self.case.usage.get(path):
            request.setHeader("Content-Usage", usage)
        if target := self.case.redirects.get(path):
            return redirectTo(target.encode(), request)
        return self.page(path).encode()

    def note(self, path: str) -> None:
        """Write a line to the log, if there is one."""
        if self.log:
            line = {"time": time.time(), "name": self.name, "path": path}
            print(json.dumps(line), file=self.log, flush=True)

    def robots(self, path: str) -> Answer:
        """What the case says to this request."""
        if path == "/robots.txt":
            self.asked += 1
        self.first = self.first or time.monotonic()
        return self.case.robots(
            Visit(path, self.asked, time.monotonic() - self.first, self.origins)
        )

    def sitemap(self) -> str:
        """All pages, as https://www.sitemaps.org/protocol.html has it."""
        origin = self.origins[self.name]
        urls = "".join(f"<url><loc>{html.escape(origin + p)}</loc></url>" for p in self.case.pages)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'

    def page(self, path: str) -> str:
        """A page; the front page links to all others."""
        pages = [page for page in self.case.pages if page != "/"] if path == "/" else ()
        links = "".join(f'<li><a href="{html.escape(p)}">{html.escape(p)}</a>' for p in pages)
        target = self.case.scripts.get(path)
        script = f"<script>location.href = {json.dumps(target)}</script>" if target else ""
        head = f"<!doctype html><title>{html.escape(path)}</title>{script}"
        return f"{head}<h1>{self.name}</h1><ul>{links}"


def send(request: Request, answer: Answer) -> None:
    """Send an answer, or break the connection."""
    if answer.cut:
        request.transport.abortConnection()
        return
    request.setResponseCode(answer.status)
    request.setHeader("Content-Type", "text/plain; charset=utf-8")
    for name, value in answer.headers.items():
        request.setHeader(name, value)
    if answer.short:
        request.setHeader("Content-Length", str(len(answer.body) + 1000))
    request.write(answer.body)
    if answer.short:
        reactor.callLater(0.1, request.transport.loseConnection)
    else:
        request.finish()


def listen(resource: OriginResource, wanted: int) -> IListeningPort:
    """Listen at the wanted port, or at any free one."""
    site = Site(resource)
    try:
        return reactor.listenTCP(wanted, site, interface="127.0.0.1")
    except CannotListenError:
        return reactor.listenTCP(0, site, interface="127.0.0.1")


def serve(cases: Mapping[str, Case], first_port: int, log: TextIO | None) -> None:
    """Serve the cases until the process is ended; the first line printed tells where."""
    origins: dict[str, str] = {}
    for number, (name, case) in enumerate(cases.items()):
        port = listen(OriginResource(name, case, origins, log), first_port + number)
        origins[name] = f"http://127.0.0.1:{port.getHost().port}"
    print(json.dumps(origins), flush=True)
    reactor.run()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", help="import path, such as example.responses:ALL_RESPONSES")
    parser.add_argument("--first-port", type=int, default=FIRST_PORT)
    parser.add_argument("--log", type=argparse.FileType("w"))
    options = parser.parse_args()
    module, _, name = options.table.partition(":")
    serve(getattr(import_module(module), name), options.first_port, options.log)
    sys.exit()


if __name__ == "__main__":
    main()
