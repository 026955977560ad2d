"""The URLs of sitemaps, for ``check --sitemap`` (sitemaps.org, version 0.9)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import is_url, read_file
from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy_robotspec.cli.session import SiteQuery

#: The limits of one file (bytes without compression, URLs).
MAX_BYTES = 50 * 2**20
MAX_URLS = 50_000

_GZIP = b"\x1f\x8b"
_GZIP_BITS = 31
#: The elements that contain a URL: of a sitemap, and of an index.
_ELEMENTS = {"url": False, "sitemap": True}


class Sitemap(NamedTuple):
    """The contents of one file."""

    urls: Sequence[str]
    """The URLs of pages, or of sitemaps."""
    is_index: bool = False


def read_sitemap(name: str) -> Sitemap:
    """A sitemap on the disk. Raises :class:`MisuseError` where that fails."""
    return parse_sitemap(name, read_file(name, MAX_BYTES + 1))


async def read_all(
    name: str, top: Sitemap | None, query: SiteQuery
) -> AsyncIterator[Sequence[str]]:
    """The URLs of pages, by file: a sitemap, or those it names.

    ``top``: its contents, where it is on the disk. Raises :class:`MisuseError`.
    """
    if top is None:
        top = parse_sitemap(name, await query.download(name, MAX_BYTES))
    if not top.is_index:
        yield top.urls
        return
    for url in top.urls:
        if not is_url(url):
            raise MisuseError(f"{name} names the sitemap {url!r}: write a whole URL")
        sitemap = parse_sitemap(url, await query.download(url, MAX_BYTES))
        if sitemap.is_index:
            raise MisuseError(f"{name} names {url}, another index: an index names sitemaps only")
        yield sitemap.urls


def parse_sitemap(name: str, data: bytes) -> Sitemap:
    """The URLs of a file: XML or lines, plain or gzip.

    Raises :class:`MisuseError` for other contents, or more than the limits allow.
    """
    if data.startswith(_GZIP):
        data = _unpacked(name, data)
    if len(data) > MAX_BYTES:
        raise MisuseError(f"{name} is larger than 50 MB: divide the sitemap")
    if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        sitemap = _parse_xml(name, data)
    else:
        lines = decode(data.removeprefix(b"\xef\xbb\xbf")).splitlines()
        sitemap = Sitemap([line.strip() for line in lines if line.strip()])
    if len(sitemap.urls) > MAX_URLS:
        raise MisuseError(f"{name} has more than {MAX_URLS:,} URLs: divide the sitemap")
    if not sitemap.urls or not all(map(is_url, sitemap.urls)):
        raise MisuseError(f"{name} is not a sitemap with URLs of pages")
    return sitemap


def _unpacked(name: str, data: bytes) -> bytes:
    parts: list[bytes] = []
    size = 0
    while data.startswith(_GZIP) and size <= MAX_BYTES:
        member = zlib.decompressobj(_GZIP_BITS)
        try:
            parts.append(member.decompress(data, MAX_BYTES + 1 - size))
        except zlib.error as error:
            raise MisuseError(f"cannot read {name}: {error}") from None
        size += len(parts[-1])
        data = member.unused_data
    return b"".join(parts)


def _parse_xml(name: str, data: bytes) -> Sitemap:
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise MisuseError(f"cannot read {name}: {error}") from None
    except _DoctypeError:
        raise MisuseError(f"{name} declares a document type: a sitemap has none") from None
    return Sitemap(reader.urls, reader.is_index)


class _DoctypeError(Exception):
    """A document type, which could declare growing entities."""


class _Reader:
    """Collects the text of ``loc`` elements, in any namespace."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.is_index = False
        self._path: list[str] = []
        self._text: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *declaration: object) -> None:
        raise _DoctypeError

    def _begin(self, name: str, attributes: object) -> None:
        self._path.append(name.rpartition(" ")[2])
        self._text.clear()

    def _end(self, name: str) -> None:
        inside = self._path[-2:-1]
        if self._path.pop() == "loc" and len(self._path) == 2 and inside[0] in _ELEMENTS:
            self.is_index = _ELEMENTS[inside[0]]
            self.urls.append("".join(self._text).strip())
        self._text.clear()
