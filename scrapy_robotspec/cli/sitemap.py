"""The URLs of sitemaps, for ``check --sitemap`` (sitemaps.org, version 0.9)."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, ParseError, iterparse

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.cli.inputs import is_url
from scrapy_robotspec.cli.session import MisuseError, Query
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


#: The limits of one file (bytes without compression, URLs).
MAX_BYTES = 50 * 2**20
MAX_URLS = 50_000

_GZIP = b"\x1f\x8b"
#: The elements with a URL, and whether the file is an index.
_ELEMENTS = {"url": False, "sitemap": True}
#: Max elements around another one. Sitemaps of images and videos have five.
_DEEPEST = 100


class Sitemap(NamedTuple):
    """The contents of one file."""

    urls: Sequence[str]
    """The URLs of pages, or of sitemaps."""
    is_index: bool = False


async def read_all(name: str, top: Sitemap | None, query: Query) -> AsyncIterator[Sequence[str]]:
    """The URLs of a sitemap, or of those that it names.

    An index names sitemaps, and so does a robots.txt.

    ``top``: its contents, where it is on the disk. Raises :class:`MisuseError`.
    """
    names: Sequence[str] = [name]
    if top is None and is_robots_txt(name):
        body = await query.download(name, MAX_BYTES)
        names = read_sitemaps(body, EDITIONS["google-2019"], str(Origin.of(name)))
        if not names:
            raise MisuseError(f"{name} names no sitemap: give the URL of one")
    for one in names:
        sitemap = top or parse_sitemap(one, await query.download(one, MAX_BYTES))
        if not sitemap.is_index:
            yield sitemap.urls
            continue
        for url in sitemap.urls:
            part = parse_sitemap(url, await query.download(url, MAX_BYTES))
            if part.is_index:
                raise MisuseError(f"{one} names {url}, another index: an index names sitemaps only")
            yield part.urls


def parse_sitemap(name: str, data: bytes) -> Sitemap:
    """The URLs of a file: XML or lines, plain or gzip.

    Raises :class:`MisuseError` for other contents, or more than the limits allow.
    """
    if data.startswith(_GZIP):
        try:
            data = gzip.GzipFile(fileobj=BytesIO(data)).read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise MisuseError(f"cannot read {name}: {error}") from None
    if len(data) > MAX_BYTES:
        raise MisuseError(f"{name} is larger than 50 MB: divide the sitemap")
    if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        sitemap = _parse_xml(name, data)
    else:
        lines = decode(data.removeprefix(b"\xef\xbb\xbf")).splitlines()
        sitemap = Sitemap([line.strip() for line in lines if line.strip()])
    if len(sitemap.urls) > MAX_URLS:
        raise MisuseError(f"{name} has more than {MAX_URLS:,} URLs: divide the sitemap")
    wrong = next((url for url in sitemap.urls if not is_url(url)), None)
    if wrong is not None or not sitemap.urls:
        found = "" if wrong is None else f", but names {wrong[:100]!r}"
        raise MisuseError(f"{name} is not a sitemap with URLs of pages{found}: give one")
    return sitemap


def _parse_xml(name: str, data: bytes) -> Sitemap:
    # It could declare growing entities. UTF-16 has a zero in each of its letters.
    if b"<!DOCTYPE" in data.replace(b"\0", b""):
        raise MisuseError(f"{name} declares a document type: a sitemap has none")
    urls: list[str] = []
    is_index = False
    around = [Element("")]
    try:
        for event, element in iterparse(BytesIO(data), ("start", "end")):
            if event == "start":
                around.append(element)
                if len(around) > _DEEPEST:
                    raise ValueError("its elements are nested too deeply")
                continue
            around.pop()
            outer, inner = (each.tag.rpartition("}")[2] for each in (around[-1], element))
            if inner == "loc" and outer in _ELEMENTS:
                is_index = _ELEMENTS[outer]
                urls.append((element.text or "").strip())
            del around[-1][:]  # a small file may have millions of elements
    except (ParseError, ValueError, LookupError) as error:  # also of an unknown encoding
        raise MisuseError(f"cannot read {name}: {error}") from None
    return Sitemap(urls, is_index)
