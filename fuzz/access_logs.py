"""Fuzz target for access logs: hostile lines in every format."""

from __future__ import annotations

from contextlib import suppress

from scrapy_robotspec.evidence.log_formats import NAMED, reader

READERS = [
    reader(each)
    for each in (
        None,
        *NAMED,
        "$msec|$scheme|$http_host|$request_uri|$http_user_agent",
        "json:time=ts,uri=request.uri,host=request.host",
    )
]


def access_log(data: bytes) -> None:
    """Lines are read, have no URL, or are refused."""
    for line in data.splitlines():
        for read in READERS:
            with suppress(ValueError, OverflowError, RecursionError):
                request = read(line)
                assert request is None or (request.url and 0.0 <= request.resolution <= 1.0)
