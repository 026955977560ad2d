"""WARC files for tests, as crawlers write them."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

FIXED = {"WARC-Date": "2026-01-31T12:00:00Z"}


def response(
    url: str,
    body: bytes,
    *,
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
    kind: str = "response",
    **warc_headers: str,
) -> dict[str, Any]:
    """The arguments of one record."""
    named = {name.replace("_", "-"): value for name, value in warc_headers.items()}
    return {
        "uri": url,
        "record_type": kind,
        "payload": BytesIO(body),
        "http_headers": StatusAndHeaders(f"{status} X", list(headers), protocol="HTTP/1.1"),
        "warc_headers_dict": {**FIXED, **named},
    }


def write_warc(path: Path, records: Sequence[dict[str, Any]], *, compressed: bool = True) -> Path:
    """Write an archive of requests and responses, one gzip member each."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "tests"}))
        for record in records:
            asked = StatusAndHeaders(
                "GET /robots.txt HTTP/1.1", [("Host", "x")], is_http_request=True
            )
            uri, fixed = record["uri"], dict(FIXED)
            writer.write_record(
                writer.create_warc_record(
                    uri, "request", http_headers=asked, warc_headers_dict=fixed
                )
            )
            writer.write_record(writer.create_warc_record(**record))
    return path


def chunked(body: bytes, size: int = 7) -> bytes:
    """A body in chunks."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def one_stream(path: Path, archive: Path) -> Path:
    """An archive compressed as a whole, as some tools do it."""
    path.write_bytes(gzip.compress(archive.read_bytes()))
    return path


def damaged(data: bytes, seed: int) -> bytes:
    """An archive with bytes changed, deleted or inserted at one place."""
    chance = random.Random(seed)
    at, length = chance.randrange(20, len(data)), chance.choice([1, 4, 30, 200])
    noise = bytes(chance.randrange(256) for _ in range(length))
    changed = [noise + data[at + length :], data[at + length :], noise + data[at:]][seed % 3]
    return data[:at] + changed
