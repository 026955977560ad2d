"""Exchange: one request for a robots.txt and the response as received."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.access.outcome import FetchResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy_robotspec.access.outcome import Hop

_CONTENT_RANGE = re.compile(r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A response with the URL that was requested."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    """Names and values as received, decoded as Latin-1."""
    body: bytes = field(default=b"", repr=False)
    """Without transfer coding, with its content coding."""
    stopped: bool = False
    """Our own size limit ended the download (FMT-12)."""
    incomplete: bool = False
    """The connection ended before the body did (FET-14)."""

    @property
    def fields(self) -> dict[str, str]:
        """The headers by lower-case name; repeated ones are joined by a comma."""
        fields: dict[str, str] = {}
        for name, value in self.headers:
            key = name.lower()
            fields[key] = f"{fields[key]}, {value}" if key in fields else value
        return fields


def result_of(
    exchange: Exchange, hops: Iterable[Hop], redirect_error: str | None, max_size: int
) -> FetchResult:
    """The result of a redirect chain that ended with *exchange*.

    *max_size* is the parsing limit in bytes.
    """
    fields = exchange.fields
    limit = max_size + 1  # one byte more shows that the file is longer
    codings = [
        name.strip().lower().encode("latin-1")
        for name in fields.get("content-encoding", "").split(",")
    ]
    body, decoded = decode_prefix(exchange.body, codings, limit)
    whole = decoded and not exchange.incomplete and not is_partial(exchange.status, fields)
    return FetchResult(
        status=exchange.status,
        body=body,
        headers=fields,
        hops=tuple(hops),
        redirect_error=redirect_error,
        complete=exchange.stopped or whole,
        truncated=len(body) >= limit,
    )


def product_name(user_agent: bytes | None) -> str:
    """The product name in a User-Agent header (CAC-04); ``-`` for none."""
    name = re.split(rb"[/ ]", (user_agent or b"").strip(), maxsplit=1)[0]
    return name.decode("latin-1").lower() or "-"


def is_partial(status: int, fields: Mapping[str, str]) -> bool:
    """Whether a 206 leaves bytes of the file out (FET-02)."""
    if status != 206:
        return False
    if fields.get("content-type", "").lower().startswith("multipart/byteranges"):
        return True
    found = _CONTENT_RANGE.match(fields.get("content-range", ""))
    if found is None:
        return False
    first, last, size = found.groups()
    return int(first) > 0 or (size != "*" and int(last) + 1 < int(size))
