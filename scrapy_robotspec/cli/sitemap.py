"""The URLs of sitemaps, for ``check --sitemap`` (sitemaps.org, version 0.9)."""

from __future__ import annotations

import gzip
import re
import zlib
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError, XMLParser

from scrapy_robotspec.access.origin import Origin, is_web
from scrapy_robotspec.cli.inputs import is_url
from scrapy_robotspec.cli.session import MisuseError, Query
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence


#: The limits of one file (bytes without compression, URLs).
MAX_BYTES = 50 * 2**20
MAX_URLS = 50_000

_GZIP = b"\x1f\x8b"
#: The elements with a URL, and whether the file is an index.
_ELEMENTS = {"url": False, "sitemap": True}
#: Documents that some search engines read like a sitemap, by their first element.
_FEEDS = {"rss": "an RSS feed", "feed": "an Atom feed", "RDF": "an RSS 1.0 feed"}
#: Bytes that are parsed at a time. Elements that are open within them are in memory together, and
#: old parsers read a part without an end from its start each time.
_STEP = 2**20
#: A line from its first character on, if it is not blank.
_LINE = re.compile(r"\S[^\r\n]*")
#: Max elements around another one. Sitemaps of images and videos have five.
_DEEPEST = 100


async def read_all(name: str, top: Sitemap | None, query: Query) -> AsyncIterator[Sequence[str]]:
    """The URLs of a sitemap, or of those that it names.

    An index names sitemaps, and so does a robots.txt. Only those of http and https are requested.

    ``top``: its contents, where it is on the disk. Raises :class:`MisuseError`.
    """
    names: Sequence[str] = [name]
    if top is None and is_robots_txt(name):
        body = await query.download(name, MAX_BYTES)
        named = read_sitemaps(body, EDITIONS["google-2019"], str(Origin.of(name)))
        names = list(filter(is_web, named))
        if not names:
            raise MisuseError(f"{name} names no sitemap: give the URL of one")
    for one in names:
        sitemap = top or parse_sitemap(one, await query.download(one, MAX_BYTES, name))
        if not sitemap.is_index:
            yield sitemap.urls
            continue
        for url in filter(is_web, sitemap.urls):
            part = parse_sitemap(url, await query.download(url, MAX_BYTES, one))
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
    content = data.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip().startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        sitemap = _parse_xml(name, data)
    else:
        lines = (each[0].rstrip() for each in _LINE.finditer(decode(content)))
        sitemap = Sitemap(islice(lines, MAX_URLS + 1))
    if len(sitemap.urls) > MAX_URLS:
        raise MisuseError(f"{name} has more than {MAX_URLS:,} URLs: divide the sitemap")
    wrong = next((url for url in sitemap.urls if not is_url(url)), None)
    if wrong == "":
        raise MisuseError(f"{name} has an empty <loc>: give a sitemap with a URL in each")
    if wrong is not None or not sitemap.urls:
        found = "" if wrong is None else f", but names {wrong[:100]!r}"
        raise MisuseError(f"{name} is not a sitemap with URLs of pages{found}: give one")
    return sitemap


def _parse_xml(name: str, data: bytes) -> Sitemap:
    # It could declare growing entities. UTF-16 has a zero in each of its letters.
    if b"<!DOCTYPE" in data.replace(b"\0", b""):
        raise MisuseError(f"{name} declares a document type: a sitemap has none")
    found = Sitemap()
    parser = XMLParser(target=found)
    try:
        for start in range(0, len(data), _STEP):
            parser.feed(data[start : start + _STEP])
        parser.close()
    except (ParseError, ValueError, LookupError) as error:  # also of an unknown encoding
        raise MisuseError(f"cannot read {name}: {error}") from None
    if (feed := _FEEDS.get(found.root)) is not None and not found.urls:
        raise MisuseError(f"{name} is {feed}: give a sitemap of sitemaps.org, or a list of URLs")
    return found


class Sitemap:
    """The URLs of one file.

    It is the target of an XML parser, and keeps no element.
    """

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self.urls = list(urls)
        """URLs of pages, or of sitemaps."""
        self.is_index = False
        self.root = ""
        self._around: list[str] = []
        self._text: list[str] | None = None
        """Parts of the text of an element that has a URL."""

    def start(self, tag: str, attributes: object) -> None:
        name = tag.rpartition("}")[2]
        outer = self._around[-1] if self._around else ""
        self.root = self.root or name
        self._around.append(name)
        if len(self._around) > _DEEPEST:
            raise ValueError("its elements are nested too deeply")
        if name == "loc" and outer in _ELEMENTS:
            self._text = []

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        name = self._around.pop()
        if self._text is None or name != "loc":
            return
        if len(self.urls) <= MAX_URLS:  # one more says that there are too many
            self.is_index = _ELEMENTS[self._around[-1]]
            self.urls.append("".join(self._text).strip())
        self._text = None
