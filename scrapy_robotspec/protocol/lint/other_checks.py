"""Checks of sitemaps, crawl delays and licenses (SIT-03, EXT-01, USE-06)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lint.findings import Remark
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import Line

#: Seconds. Bing documents 1 to 30 s, Majestic at most 30 s, Semrush at most 10 s.
LONGEST_DELAY = 30
_SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_LONGEST_NUMBER = 20


def check_other(line: Line, edition: Edition) -> Iterator[Remark]:
    """Check the value of a line that is not a rule."""
    name = edition.name
    if line.field == "license":
        if not is_absolute(decode(line.value)):
            yield Remark("RS404", f"A license needs an absolute URL; {name} does not offer it.")
    elif not edition.other_fields:
        return
    elif line.field == "sitemap":
        if not is_absolute(decode(line.value)):
            yield Remark("RS401", f"A sitemap needs an absolute URL; {name} does not offer it.")
    elif line.field == "crawl-delay":
        yield from _check_delay(line.value, name)


def _check_delay(value: bytes, name: str) -> Iterator[Remark]:
    if not _SECONDS.fullmatch(value):
        yield Remark("RS402", f"A crawl-delay is a number of seconds; {name} ignores this one.")
    elif len(value) > _LONGEST_NUMBER or float(value) > LONGEST_DELAY:
        yield Remark(
            "RS403",
            f"Crawlers accept at most {LONGEST_DELAY} s as a crawl-delay; {name} offers this one.",
        )
