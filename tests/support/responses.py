"""Responses of an origin: a function for each way to answer.

An answer gets the exchange and says whether the connection may be used again. Which origin
answers what, and the log, belong to ``server.py``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

Headers = Iterable[tuple[str, str]]


@dataclass(slots=True)
class Asked:
    """One request as it came in."""

    at: float
    host: str
    port: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    sent: int = 0
    """Bytes sent for it so far."""
    port_from: int = 0
    """The client's port, by which connections differ."""

    def header(self, name: str) -> str | None:
        """The first value of a header (lower case), or None."""
        return next((value for key, value in self.headers if key == name), None)


@dataclass(slots=True)
class Exchange:
    """One request and the connection it came by."""

    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    turn: int
    """How many times this URL was asked for before."""
    since: float
    """Seconds since this URL was asked for first."""
    memory: dict[str, int] = field(default_factory=dict)

    async def send(self, data: bytes) -> None:
        """Send *data* and drain. Raises OSError if the peer is gone."""
        if self.writer.is_closing():
            raise ConnectionResetError
        self.writer.write(data)
        self.asked.sent += len(data)
        await self.writer.drain()


Answer = Callable[[Exchange], Awaitable[bool]]


def http(status: int, headers: Headers, body: bytes) -> bytes:
    """The bytes of a whole response; Content-Length is the caller's to give."""
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def reply(body: str | bytes = b"", status: int = 200, headers: Headers = ()) -> Answer:
    """A well-formed response; *headers* come after our own."""
    payload = body.encode() if isinstance(body, str) else body
    given = list(headers)
    names = {name.lower() for name, _ in given}
    own = []
    if status in (204, 304):
        payload = b""
    else:
        own.append(("Content-Length", str(len(payload))))
    if "content-type" not in names:
        own.append(("Content-Type", "text/plain"))
    data = http(status, [*own, *given], payload)

    async def answer(exchange: Exchange) -> bool:
        await exchange.send(data)
        return True

    return answer


def redirect(location: str | None, status: int = 301) -> Answer:
    """A redirect; ``None``: without a Location."""
    return reply(b"", status, [] if location is None else [("Location", location)])


def raw(data: bytes) -> Answer:
    """These bytes alone, then the connection is closed."""

    async def answer(exchange: Exchange) -> bool:
        await exchange.send(data)
        return False

    return answer


def silence() -> Answer:
    """Nothing at all, until the client goes."""

    async def answer(exchange: Exchange) -> bool:
        await exchange.reader.read()
        return False

    return answer


def reset(data: bytes = b"") -> Answer:
    """The connection is reset, after *data*."""

    async def answer(exchange: Exchange) -> bool:
        if data:
            await exchange.send(data)
            await asyncio.sleep(0.05)
        connection: socket.socket = exchange.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        exchange.writer.transport.abort()
        return False

    return answer


def drip(data: bytes, pause: float, size: int = 1) -> Answer:
    """*size* bytes after each pause; then the connection is closed."""

    async def answer(exchange: Exchange) -> bool:
        for start in range(0, len(data), size):
            await asyncio.sleep(pause)
            await exchange.send(data[start : start + size])
        return False

    return answer


def endless(head: bytes, chunk: bytes, pause: float = 0.0) -> Answer:
    """*head*, then *chunk* again and again, until the client goes."""

    async def answer(exchange: Exchange) -> bool:
        await exchange.send(head)
        while not exchange.writer.is_closing():
            await exchange.send(chunk)
            await asyncio.sleep(pause)
        return False

    return answer


def closing(then: Answer) -> Answer:
    """*then*, and the connection is closed."""

    async def answer(exchange: Exchange) -> bool:
        await then(exchange)
        return False

    return answer


def after(seconds: float, then: Answer) -> Answer:
    """*then*, some seconds late."""

    async def answer(exchange: Exchange) -> bool:
        await asyncio.sleep(seconds)
        return await then(exchange)

    return answer


def in_turn(*answers: Answer) -> Answer:
    """One answer for each request; the last one goes on."""

    async def answer(exchange: Exchange) -> bool:
        return await answers[min(exchange.turn, len(answers) - 1)](exchange)

    return answer


def until(seconds: float, first: Answer, then: Answer) -> Answer:
    """*first* for some seconds from the first request on, *then* afterwards."""

    async def answer(exchange: Exchange) -> bool:
        return await (first if exchange.since < seconds else then)(exchange)

    return answer


def as_long_as(condition: Callable[[], bool], first: Answer, then: Answer) -> Answer:
    """*first* while *condition* holds, *then* afterwards."""

    async def answer(exchange: Exchange) -> bool:
        return await (first if condition() else then)(exchange)

    return answer


def once(condition: Callable[[], object], then: Answer) -> Answer:
    """*then*, as soon as *condition* holds: orders events without timing."""

    async def answer(exchange: Exchange) -> bool:
        while not condition():
            await asyncio.sleep(0.02)
        return await then(exchange)

    return answer


class Switch:
    """An answer that a test may change while the crawl runs."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    async def __call__(self, exchange: Exchange) -> bool:
        return await self.answer(exchange)
