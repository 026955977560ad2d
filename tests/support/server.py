"""A loopback server for many origins, with a log of requests.

One socket answers for the whole of 127.0.0.0/8, so ten thousand origins need one port. The server
runs in a thread of the test's process; the crawl is another process. As a proxy it answers for
any host name. ``responses.py`` contains the responses.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.support.responses import Answer, Asked, Exchange, reply

ROBOTS = "/robots.txt"
#: The server notes when its thread stands still for longer (seconds).
_STALL = 0.05


@dataclass
class Site:
    """One origin with what it answers and what it was asked."""

    scheme: str
    host: str
    port: int
    robots: Answer
    pages: Mapping[str, Answer]
    page: Answer
    log: list[Asked] = field(default_factory=list)
    firsts: dict[str, tuple[float, int]] = field(default_factory=dict)

    def url(self, path: str = "/") -> str:
        """The URL of *path* here."""
        return f"{self.scheme}://{self.host}:{self.port}{path}"

    @property
    def robots_asked(self) -> list[Asked]:
        """The requests for robots.txt."""
        return [asked for asked in self.log if asked.path == ROBOTS]

    @property
    def pages_asked(self) -> list[str]:
        """The paths of all other requests."""
        return [asked.path for asked in self.log if asked.path != ROBOTS]

    def answer_for(self, path: str) -> Answer:
        """The response for *path*."""
        if path == ROBOTS:
            return self.robots
        return self.pages.get(path, self.page)

    def turn_of(self, path: str, now: float) -> tuple[int, float]:
        """Earlier requests for *path*, and seconds since the first."""
        first, times = self.firsts.get(path, (now, 0))
        self.firsts[path] = (first, times + 1)
        return times, now - first


def ahead(pages: Iterable[tuple[float, float]]) -> float:
    """Seconds by which a page came before its turn.

    *pages*: the time of each and the delay after it. The three pages before tell a turn. A page
    that a busy machine sends late makes the pause after it short and brings no page ahead; a page
    that takes no turn does.
    """
    most, turn = 0.0, 0.0
    late: deque[float] = deque(maxlen=3)
    for at, delay in sorted(pages):
        if late:
            most = max(most, min(late) - (at - turn))
        late.append(at - turn)
        turn += delay
    return most


class Server:
    """``with Server() as server: site = server.site("127.0.0.2", robots=reply(...))``.

    ``port`` and ``other_port`` speak HTTP; ``tls_port`` speaks HTTPS where a context is given.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.port = self.other_port = self.tls_port = 0
        self.log: list[Asked] = []
        self.stalls: list[tuple[float, float]] = []
        self.default: Callable[[str, int], Site] | None = None
        self._tls = tls
        self._sites: dict[tuple[str, int], Site] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()

    def site(
        self,
        host: str = "127.0.0.1",
        robots: Answer | str | bytes = b"",
        *,
        pages: Mapping[str, Answer] | None = None,
        page: Answer | None = None,
        port: int | None = None,
    ) -> Site:
        """Let *host* answer; a text for *robots* is its robots.txt."""
        port = self.port if port is None else port
        site = Site(
            "https" if port == self.tls_port else "http",
            host,
            port,
            reply(robots) if isinstance(robots, str | bytes) else robots,
            pages or {},
            page or reply("<html>page</html>", headers=[("Content-Type", "text/html")]),
        )
        self._sites[host, port] = site
        return site

    def came_at(self, at: float) -> float:
        """The earliest arrival of a request that was read at *at*.

        On a busy machine the server's thread may stand still for longer than a crawl delay.
        """
        began = (began for began, ended in self.stalls if began < at <= ended + _STALL)
        return min(began, default=at)

    @property
    def sites(self) -> list[Site]:
        """All sites so far."""
        return list(self._sites.values())

    def __enter__(self) -> Server:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        listening = [
            await asyncio.start_server(self._connected, "0.0.0.0", 0, ssl=tls, backlog=4096)
            for tls in (None, None, *filter(None, [self._tls]))
        ]
        ports = [server.sockets[0].getsockname()[1] for server in listening]
        self.port, self.other_port = ports[:2]
        self.tls_port = ports[2] if self._tls else 0
        self._ready.set()
        watching = asyncio.create_task(self._watch())
        await self._stop.wait()
        watching.cancel()
        for server in listening:
            server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _watch(self) -> None:
        """Note when nothing was read for a while."""
        while True:
            began = time.time()
            await asyncio.sleep(_STALL)
            if time.time() > began + 2 * _STALL:
                self.stalls.append((began, time.time()))

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        request_line, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request_line.split(" ", 2)
        headers = tuple(
            (name.lower(), value.strip())
            for name, _, value in (line.partition(":") for line in lines if line)
        )
        host, port = writer.get_extra_info("sockname")[:2]
        if "://" in target:  # asked as a proxy
            url = urlsplit(target)
            host, port = url.hostname or "", url.port or 80
            target = target[target.index("/", target.index("://") + 3) :]
        site = self._site_of(host, port)
        asked = Asked(time.time(), host, port, method, target, headers)
        asked.port_from = writer.get_extra_info("peername")[1]
        self.log.append(asked)
        site.log.append(asked)
        turn, since = site.turn_of(target, asked.at)
        answer = site.answer_for(target)
        return await answer(Exchange(asked, reader, writer, turn, since))

    def _site_of(self, host: str, port: int) -> Site:
        site = self._sites.get((host, port))
        if site is None:
            make = self.default or (
                lambda host, port: self.site(host, reply(status=404), port=port)
            )
            site = self._sites[host, port] = make(host, port)
        return site
