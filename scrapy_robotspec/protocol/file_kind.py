"""Recognises HTML, JSON, binary data and other content (FET-20).

Two questions: whether an edition reads anything in a file, which decides what a crawl does, and
whether a person meant a file as a robots.txt, which decides what a tool says.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition


class FileKind(str, Enum):
    """A kind of content other than a robots.txt file."""

    HTML = "HTML page"
    XML = "XML document"
    JSON = "JSON"
    UTF16 = "UTF-16 text"
    UTF32 = "UTF-32 text"
    BINARY = "binary data"
    TEXT = "other text"


_HEAD = 1000  #: bytes at the start of a file that tell its kind
_UTF32_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: The start of a page, after white space and comments; a prolog of XML may precede it.
_HTML = re.compile(
    rb"<(?:!doctype html|html|head|body|title|meta|link|script|style|base|noscript|div|span|center"
    rb"|table|form|iframe|font|pre|h[1-6]|p)\b",
    re.I,
)
_XML = re.compile(
    rb"<(?:\?xml\b|!doctype\b|[a-z_][\w:.-]*\s[^>]*\bxmlns|(?:error|urlset|rss|feed)\b)", re.I
)
_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[\]{\"])")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 10  #: percent of control characters in a text
#: Files without a match contain no line that any edition reads by itself.
_MAY_HAVE_LINES = re.compile(rb"(?:\A|[\r\n])[ \t\x0b\x0c\xef\xbb\xbf]*(?:user|site)", re.I)

#: Kinds whose files are of this kind whatever lines they contain.
_WHOLE = (FileKind.HTML, FileKind.XML, FileKind.UTF16, FileKind.UTF32)
#: A line that is meant as one of a robots.txt file, even if a colon or a letter is wrong.
#: Compiled on first use.
_ROBOTS_LINE = (
    rb"(?i)(?:\A|[\r\n])(?:\xef\xbb\xbf)?[ \t]*(?:"
    rb"user[-_ ]?agents?|d[a-z]{2,5}al+o?w?(?:ed)?|al+ow(?:ed)?|site-?maps?|crawl-?delay"
    rb"|content-(?:usage|signal)|license|clean-param|host|request-rate|visit-time"
    rb")(?:[ \t]*:|[ \t]+[/*A-Za-z])"
)
#: The start of a line that is neither blank nor a comment.
_CONTENT = re.compile(rb"(?:\A(?:\xef\xbb\xbf|(?!\xef\xbb\xbf))|[\r\n])[ \t]*[^\s#]")


def foreign_kind(body: bytes) -> FileKind | None:
    """Kind of a file without valid lines (FET-20); None for text."""
    kind = format_of(body)
    return None if kind is None or has_lines(body) else kind


def meant_kind(body: bytes) -> FileKind | None:
    """The kind of a file not meant as a robots.txt, or None.

    A line counts that is meant as one of a robots.txt, even if no edition reads it.
    """
    kind = format_of(body)
    if kind in _WHOLE:
        return kind
    if re.search(_ROBOTS_LINE, body) or not _CONTENT.search(body):
        return None
    return kind or FileKind.TEXT


def format_of(body: bytes) -> FileKind | None:
    """The format that the beginning of a file shows; None for text."""
    head = body[:_HEAD]
    if head.startswith(_UTF32_MARKS) or _is_padded(head, 4):
        return FileKind.UTF32
    if head.startswith(_UTF16_MARKS) or _is_padded(head, 2):
        return FileKind.UTF16
    start = _without_comments(head)
    if _HTML.match(start) or (_XML.match(start) and _HTML.search(start)):
        return FileKind.HTML
    if _XML.match(start):
        return FileKind.XML
    if _JSON.match(start):
        return FileKind.JSON
    is_binary = len(_CONTROL.findall(head)) * 100 > len(head) * _MOST_CONTROL
    return FileKind.BINARY if is_binary else None


def has_lines(body: bytes) -> bool:
    """Whether any edition reads a group or a sitemap in a file."""
    return bool(_MAY_HAVE_LINES.search(body)) and any(
        _has_lines(body, edition) for edition in EDITIONS.values()
    )


def _has_lines(body: bytes, edition: Edition) -> bool:
    """As an edition reads the file.

    Scripts in pages have lines such as ``userAgentElement = …``, which are a group where fields are
    known by their first letters: there a group counts if it has rules.
    """
    from scrapy_robotspec.protocol.groups import read_groups, read_sitemaps  # few files

    groups = read_groups(body, edition)
    if any(group.rules or not edition.fields_by_prefix for group in groups):
        return True
    return bool(read_sitemaps(body, edition))


def _without_comments(head: bytes) -> bytes:
    """The beginning after a byte order mark, white space and comments of markup."""
    rest = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    while rest.startswith(b"<!--"):
        rest = rest.partition(b"-->")[2].lstrip()
    return rest


def _is_padded(head: bytes, width: int) -> bool:
    """Whether one byte of each *width* is text and the others are NUL, as without a mark."""
    units = len(head) // width
    parts = [head[start::width].count(0) * 10 > units * 9 for start in range(width)]
    return units > 1 and sum(parts) == width - 1
