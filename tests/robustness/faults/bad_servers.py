"""The wrong things that a server may do when it is asked for robots.txt, by name.

Wherever a file comes whole it forbids ``/no``. So whatever a server of ``GUARDED`` does, ``/no`` is
never asked for: either the rules are read, or nothing is crawled. Those of ``MISSING`` count as a
404.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.support import responses
from tests.support.responses import Answer, Exchange, http, in_turn, raw, redirect, reply

BODY = b"User-agent: *\nDisallow: /no\n"
LENGTH = ("Content-Length", str(len(BODY)))
WHOLE = http(200, [LENGTH], BODY)
CHUNKED = [("Transfer-Encoding", "chunked")]
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
ALLOW_ALL = http(200, [("Content-Length", "0")], b"")


def encoded(name: str, body: bytes) -> Answer:
    return reply(body, headers=[("Content-Encoding", name)])


def bomb(name: str, pack: Callable[[bytes], bytes]) -> Answer:
    """The file before 40 MB of comment, packed when it is first requested."""

    @cache
    def packed() -> Answer:
        return encoded(name, pack(BODY + b"#" * 40_000_000))

    async def answer(exchange: Exchange) -> bool:
        return await packed()(exchange)

    return answer


def repeated(data: bytes, times: int, *, first: bytes = b"HTTP/1.1 200 OK\r\n") -> Answer:
    """*first*, then *data* so many times, as fast as it is taken."""

    async def answer(exchange: Exchange) -> bool:
        await exchange.send(first)
        for _ in range(times):
            await exchange.send(data)
        return False

    return answer


def before_it_is_asked(data: bytes) -> Answer:
    """A response with an unrequested second one behind it, on a connection that stays open."""

    async def answer(exchange: Exchange) -> bool:
        await exchange.send(data)
        await asyncio.sleep(0.05)
        await exchange.send(ALLOW_ALL)
        return True

    return answer


def _packed() -> dict[str, Answer]:
    """Bombs of the encodings that can be packed here."""
    found = {
        "bomb of gzip": bomb("gzip", partial(gzip.compress, compresslevel=1)),
        "bomb of deflate": bomb("deflate", partial(zlib.compress, level=1)),
        "bomb of ten gzips": bomb(", ".join(["gzip"] * 10), _ten_times),
    }
    libraries = {"br": ["brotli"], "zstd": ["compression.zstd", "backports.zstd"]}
    for name, modules in libraries.items():
        for module in modules:
            if find_spec(module.partition(".")[0]) and find_spec(module):
                library: Any = import_module(module)
                options = {"quality": 1} if name == "br" else {}
                pack = partial(library.compress, **options)
                found[f"bomb of {name}"] = bomb(name, pack)
                found[f"{name} cut short"] = encoded(name, pack(BODY * 9)[:-4])
    return found


def _ten_times(body: bytes) -> bytes:
    for _ in range(10):
        body = gzip.compress(body, 1)
    return body


GUARDED: dict[str, Answer] = {
    # --- the head
    "ten thousand headers": raw(http(200, [LENGTH, *[("X", "y")] * 10_000], BODY)),
    "a header of 200 KB": raw(http(200, [LENGTH, ("X", "y" * 200_000)], BODY)),
    "headers without end": repeated(b"X: y\r\n" * 100, 3000),
    "a line without end": repeated(b"X: " + b"y" * 1000, 3000),
    "a head of 1xx without end": repeated(b"HTTP/1.1 100 Continue\r\n\r\n", 9999, first=b""),
    "some 1xx, then the answer": raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3 + WHOLE),
    "101 and another protocol": raw(http(101, [("Upgrade", "x")], b"\x00\x01" * 50)),
    "status 99": raw(http(99, [LENGTH], BODY)),
    "status 600": raw(http(600, [LENGTH], BODY)),
    "status 2000": raw(WHOLE.replace(b"200", b"2000", 1)),
    "status -200": raw(WHOLE.replace(b"200", b"-200", 1)),
    "HTTP/9.9": raw(WHOLE.replace(b"HTTP/1.1", b"HTTP/9.9")),
    "HTTP/2 without being asked": raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18),
    "HTTP/0.9": raw(BODY),
    "a request in place of an answer": raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "line feeds only": raw(WHOLE.replace(b"\r\n", b"\n")),
    "NULs in the head": raw(http(200, [LENGTH, ("X\0Y", "\0")], BODY)),
    "a header without a colon": raw(b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n" + BODY),
    "a space before a colon": raw(http(200, [("Content-Length ", str(len(BODY)))], BODY)),
    # --- the length
    "two lengths that differ": raw(http(200, [LENGTH, ("Content-Length", "3")], BODY)),
    "a negative length": raw(http(200, [("Content-Length", "-5")], BODY)),
    "a length of a terabyte": raw(http(200, [("Content-Length", str(10**12))], BODY)),
    "a length of a thousand digits": raw(http(200, [("Content-Length", "9" * 1000)], BODY)),
    "a length in words": raw(http(200, [("Content-Length", "many")], BODY)),
    "a length and chunks": raw(http(200, [LENGTH, *CHUNKED], CHUNK + b"0\r\n\r\n")),
    "chunks that are none": raw(http(200, CHUNKED, BODY)),
    "a chunk of a negative size": raw(http(200, CHUNKED, b"-1\r\n" + BODY + b"\r\n0\r\n\r\n")),
    "a chunk of a terabyte": raw(http(200, CHUNKED, b"%x\r\n" % 10**12 + BODY)),
    "a chunk extension of 200 KB": raw(
        http(
            200, CHUNKED, CHUNK.replace(b"\r\n", b";" + b"x" * 200_000 + b"\r\n", 1) + b"0\r\n\r\n"
        )
    ),
    "trailers without end": repeated(
        b"X: y\r\n" * 100, 3000, first=http(200, CHUNKED, CHUNK + b"0\r\n")
    ),
    "an unknown transfer encoding": raw(http(200, [("Transfer-Encoding", "odd")], BODY)),
    "more than one answer": before_it_is_asked(WHOLE),
    # --- the body
    "one byte at a time": responses.drip(WHOLE, 0.15),
    "one byte, then silence": in_turn(responses.endless(WHOLE[:-9], b"", 0.2)),
    "no answer": responses.silence(),
    "reset": responses.reset(WHOLE[:-3]),
    "gzip cut short": encoded("gzip", gzip.compress(BODY)[:-9]),
    "an encoding that cannot be decoded": encoded("compress", b"\x1f\x9d\x90" + bytes(50)),
    "gzip in a header only": encoded("gzip", BODY),
    "twenty thousand gzips, packed": encoded(
        "gzip, gzip", gzip.compress(gzip.compress(b"") * 20_000)
    ),
    "a thousand encodings": encoded(", ".join(["gzip"] * 1000), gzip.compress(BODY)),
    "an endless file": responses.endless(http(200, (), BODY), b"# more\n" * 5000),
    **_packed(),
    # --- answers that change
    "503 once, then the rules": in_turn(reply(b"", 503), reply(BODY)),
    "reset once, then the rules": in_turn(responses.reset(), reply(BODY)),
    "Retry-After of a year": in_turn(reply(b"", 503, [("Retry-After", "31536000")]), reply(BODY)),
    "Retry-After that is none": reply(b"", 503, [("Retry-After", "soon \x1b[2J")]),
    "Cache-Control that is none": reply(BODY, headers=[("Cache-Control", 'max-age="x, ,=;\\')]),
}

#: Two thousand letters, each of which mapping to ASCII makes eighteen of.
LONG_HOST = "http://" + "\ufdfa".encode().decode("latin-1") * 2000 + "/"

#: A redirect that leads nowhere counts as a 404, and nothing is asked where it points to.
MISSING: dict[str, Answer] = {
    f"to {target[:40]!r}": redirect(target)
    for target in (
        "javascript:alert(1)", "gopher://127.0.0.1/", "about:blank", "mailto:a@example.com",
        "ws://127.0.0.1/", "unix:/var/run/docker.sock", "http://", "http:///", "http://[::1/",
        "http://127.0.0.1:99999999/", "http://a:b:c/", "://", "#", "", "robots.txt",
        "ftp://127.0.0.1/robots.txt", "file:///etc/passwd", "data:text/plain,", "s3://a/robots.txt",
        LONG_HOST,
    )
}  # fmt: skip
