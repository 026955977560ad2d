"""The URLs of a command line and of a list, checked."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import MISUSE, MisuseError
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, for_site, is_url, read_list, robots_url
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.cli.session import Screen

#: A path, or a URL of a site. The first word of ``example.com/page`` could be a host or a folder.
_VALID = re.compile(rb"/|[A-Za-z][A-Za-z0-9+.-]*://")
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
#: Max wrong lines of a list that are named.
_MOST_BAD = 20


class UrlOptions(NamedTuple):
    """Arguments and options that name URLs and paths."""

    given: Sequence[str]
    """On the command line."""
    listed: str | None
    """The file that contains more of them."""


def read_urls(options: UrlOptions, screen: Screen, *files: str | None) -> Sequence[str | bytes]:
    """The URLs of a command line, then those of its list.

    URLs are text where they are UTF-8, else bytes.

    ``files``: the other inputs, for errors about them. Raises :class:`MisuseError` for a wrong
    argument; a wrong line of the list is reported and skipped.
    """
    given, listed = options
    if (listed, *files).count(STANDARD_INPUT) > 1:
        raise MisuseError("standard input (-) can be read for one thing only")
    urls: list[str | bytes] = []
    for url in given:
        if not _VALID.match(os.fsencode(url)):
            remedy = for_site(url) or "write https://example.com/page, or /page, after FILE"
            raise MisuseError(f"{url!r} is neither a URL of a site nor a path: {remedy}")
        urls.append(_text(os.fsencode(url)))
    if listed is None:
        return urls
    bad = 0
    for number, line in read_list(listed):
        if _VALID.match(line):
            urls.append(_text(line))
            continue
        bad += 1
        if bad <= _MOST_BAD:
            shown = safe(decode(line))
            line_number = f"{safe(listed)}:{number}"
            screen.fail(f"{line_number}: neither a URL nor a path, skipped: {shown}", MISUSE)
    if bad > _MOST_BAD:
        screen.fail(f"and {bad - _MOST_BAD:,} more")
    if not urls:
        raise MisuseError(f"{listed} lists no URL: write one URL or path a line")
    return urls


def _text(url: bytes) -> str | bytes:
    try:
        return url.decode()
    except UnicodeDecodeError:
        return url


def note_origins(urls: Iterable[str | bytes], screen: Screen) -> None:
    """Note URLs of several origins, as a file governs one (LOC-02)."""
    found = (_AUTHORITY.match(os.fsdecode(url)) for url in urls)
    origins = {match[0].lower() for match in found if match}
    if len(origins) > 1:
        screen.note(
            f"note: the URLs belong to {len(origins)} origins; each has a robots.txt of its own, "
            "and this file governs one of them"
        )


def absolute(urls: Sequence[str | bytes], base: str | None) -> list[str]:
    """URLs and paths as URLs of sites.

    A path belongs to the site of the URL before it.

    Raises :class:`MisuseError` for a path without a valid URL before it.
    """
    from urllib.parse import urljoin

    found: list[str] = []
    for url in urls:
        text = os.fsdecode(url)
        if not text.startswith("/"):
            base = text if is_url(text) else base
        elif base is None:
            raise MisuseError(f"{text!r} belongs to no site: give a FILE or a URL before it")
        else:
            robots_url(base)  # fails for a URL without a valid host
            text = urljoin(base, text)
        found.append(text)
    return found
