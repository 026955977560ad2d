"""The URLs of a command line and of a list, checked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import STANDARD_INPUT, is_url, read_file
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.render.terminal import Screen

_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:(?://|(?!\d+(?:/|$)))")
_AUTHORITY = re.compile(rb"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")


@dataclass(frozen=True, slots=True)
class Urls:
    """URLs and paths to ask about."""

    urls: list[bytes]
    bad_lines: int = 0
    """Lines of the list that are neither URL nor path; each was reported."""


def read_urls(given: Sequence[str], listed: str | None, screen: Screen, *files: str | None) -> Urls:
    """The URLs of a command line, then those of its list.

    ``files``: the other inputs, for errors about them. Raises :class:`MisuseError` for a wrong
    argument; a wrong line of the list is reported and skipped.
    """
    if (listed, *files).count(STANDARD_INPUT) > 1:
        raise MisuseError("standard input (-) can be read for one thing only")
    urls = [os.fsencode(url) for url in given]
    for url in urls:
        if not is_valid(url):
            raise MisuseError(_hint(url, files))
    if listed is None:
        return Urls(urls)
    found, bad = _listed(listed, screen)
    return Urls(urls + found, bad)


def is_valid(url: bytes) -> bool:
    """Whether it is a path that begins with a slash, or has a scheme.

    The first word of ``example.com/page`` could be a host or a folder.
    """
    return url.startswith(b"/") or _SCHEME.match(url) is not None


def _hint(url: bytes, files: Iterable[str | None]) -> str:
    shown = decode(url)
    if os.path.isfile(os.fsdecode(url)):
        swapped = next((file for file in files if file), "/page")
        return f"FILE comes first, then URLs: write {shown} {swapped}"
    return f"{shown!r} is neither a URL nor a path: write https://{shown}, or /{shown}"


def _listed(name: str, screen: Screen) -> tuple[list[bytes], int]:
    urls: list[bytes] = []
    bad = 0
    for number, raw in enumerate(read_file(name).removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        line = raw.strip()
        if line[:1] == b"/" or _SCHEME.match(line):
            urls.append(line)
        elif line and not line.startswith(b"#"):
            bad += 1
            shown = safe(decode(line))
            screen.fail(f"{safe(name)}:{number}: neither a URL nor a path, skipped: {shown}")
    return urls, bad


def note_origins(urls: Iterable[bytes], screen: Screen) -> None:
    """Say so if the URLs belong to several origins, as a file governs one (LOC-02)."""
    origins = {match[0].lower() for url in urls if (match := _AUTHORITY.match(url))}
    if len(origins) > 1:
        screen.note(
            f"note: the URLs belong to {len(origins)} origins; each has a robots.txt of its own, "
            "and this file governs one of them"
        )


def absolute(urls: Sequence[bytes], base: str | None) -> list[str]:
    """URLs of sites; a path belongs to the site of the URL before it.

    Raises :class:`MisuseError` for a path without a URL before it.
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
            text = urljoin(base, text)
        found.append(text)
    return found
