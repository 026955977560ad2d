"""Revisit records: the body is in another record, and no verdict is made without it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.bulk.documents import REVISIT
from scrapy_robotspec.editions import EDITIONS
from tests.support.warc import response, write_warc
from tests.unit.bulk.test_warc import BODY, URL, documents

OTHER = "https://b.example/robots.txt"


def original() -> dict[str, Any]:
    """The record that has the body."""
    return response(URL, BODY)


def revisit(url: str = URL, status: int = 200) -> dict[str, Any]:
    """A record with the digest of a body instead of it."""
    digest = f"sha1:{base64.b32encode(sha1(BODY).digest()).decode()}"
    return response(url, b"", status=status, kind="revisit", WARC_Payload_Digest=digest)


def bare() -> dict[str, Any]:
    """A revisit record without an HTTP message, as the format allows."""
    return revisit(OTHER) | {"http_headers": None}


@pytest.mark.parametrize("make", [revisit, lambda: revisit(status=304), bare])
def test_without_the_body_there_is_no_verdict(
    tmp_path: Path, make: Callable[[], dict[str, Any]]
) -> None:
    """Wherever the body is: before, behind, or in another input."""
    records = [make(), original(), make()]
    before, _, behind = documents(write_warc(tmp_path / "x.warc.gz", records))
    for found in (before, behind):
        assert (found.body, found.error) == (None, REVISIT)
        assert {found.outcome(edition) for edition in EDITIONS.values()} == {"revisit"}
