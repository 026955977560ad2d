"""A site on loopback for one situation, with a log of requests."""

from __future__ import annotations

import html
import socket
import struct
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

from conformance.crawlers.situations import TARGET

if TYPE_CHECKING:
    from types import TracebackType

    from conformance.crawlers.situations import Situation


class Request(NamedTuple):
    """A request line and the User-Agent header."""

    method: str
    target: str
    user_agent: str


class Site:
    """Serves a situation on a free port; a context manager.

    A second server on another port is the other origin.
    """

    def __init__(self, situation: Situation, name: str) -> None:
        self.requests: list[Request] = []
        self._situation = situation
        self._file = situation.file(name)
        self._stack = ExitStack()
        self._origins: list[str] = []

    def __enter__(self) -> Site:
        for _ in range(2):
            server = _Server(self)
            self._stack.callback(server.server_close)
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            self._stack.callback(server.shutdown)
            self._origins.append(f"http://127.0.0.1:{server.server_port}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """The first page."""
        return f"{self._origins[0]}/"

    @property
    def links(self) -> tuple[str, ...]:
        """The URLs that the first page links to."""
        return tuple(self._origins[0] + path for path in self._situation.links)

    def respond(self, handler: _Handler) -> None:
        """Log a request and send the response of the situation."""
        agent = handler.headers.get("User-Agent", "")
        self.requests.append(Request(handler.command, handler.path, agent))
        path, situation = handler.path, self._situation
        hop = int(path.rpartition("?")[2]) if path.startswith("/hop?") else 0
        if path == "/robots.txt" and situation.reset:
            handler.reset()
        elif (path == "/robots.txt" or hop) and hop < situation.hops:
            handler.send(302, {"Location": self._next_hop(hop + 1)}, b"")
        elif path in ("/robots.txt", TARGET):
            handler.send(situation.status, dict(situation.headers), self._file)
        elif situation.moved and path == situation.links[0]:
            handler.send(302, {"Location": self._origins[0] + situation.moved}, b"")
        else:
            handler.send(200, {"Content-Type": "text/html; charset=utf-8"}, self._page(path))

    def _next_hop(self, hop: int) -> str:
        # Absolute: some programs lose the port of a relative URL.
        if hop < self._situation.hops:
            return f"{self._origins[0]}/hop?{hop}"
        return self._origins[self._situation.other_origin] + TARGET

    def _page(self, path: str) -> bytes:
        links = self.links if path == "/" else ()
        items = "".join(
            f'<li><a href="{html.escape(link)}">{html.escape(link)}</a>' for link in links
        )
        return f"<!DOCTYPE html><html lang=en><title>A page</title><ul>{items}</ul></html>".encode()


class _Server(ThreadingHTTPServer):
    def __init__(self, site: Site) -> None:
        self.site = site
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Crawlers close connections early."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    timeout = 5

    def do_GET(self) -> None:
        self.server.site.respond(self)

    do_HEAD = do_GET  # noqa: N815 (likewise)

    def log_message(self, *_: object) -> None:
        """The site has a log of its own."""

    def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Send a response, without the headers that the library would add."""
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reset(self) -> None:
        """Close the connection with a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
