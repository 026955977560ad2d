"""Sitemap lines, which belong to no group (SIT-01).

What is offered is an absolute URL; the rest is the linter's business (SIT-03).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_robotspec.protocol.lines import meaning, skip_byte_order_mark, split_line
from scrapy_robotspec.protocol.values import decode

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

_BROKEN = re.compile(r"[\x00-\x20\x7f]")


def is_absolute(url: str) -> bool:
    """Whether a sitemap's URL can be asked for as it stands: scheme, host, no blanks."""
    try:
        parts = urlsplit(url)
        return bool(parts.scheme and parts.hostname and parts.port != 0 and not _BROKEN.search(url))
    except ValueError:
        return False


def read_sitemaps(body: bytes, edition: Edition) -> tuple[str, ...]:
    """The absolute URLs of the sitemap lines, in file order."""
    if not edition.other_fields:
        return ()
    start = skip_byte_order_mark(body, edition)
    lines = (line for line in body[start:].splitlines() if b"map" in line.lower())
    pairs = (pair for line in lines if (pair := split_line(line, edition)))
    urls = (decode(value) for name, value in pairs if meaning(name, edition) == "sitemap")
    return tuple(url for url in urls if is_absolute(url))
