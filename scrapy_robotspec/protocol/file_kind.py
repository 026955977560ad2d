"""Recognises responses that are not a robots.txt file (FET-20).

Crawls, the linter and bulk runs ask the same function. It looks at the content alone: whether an
edition reads a line of it, whether a person meant a line as one of a robots.txt, and the format.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum

from scrapy_robotspec.editions import EDITIONS


class FileKind(str, Enum):
    """A kind of content other than a robots.txt file."""

    HTML = "HTML page"
    XML = "XML document"
    JSON = "JSON"
    UTF16 = "UTF-16 text"
    UTF32 = "UTF-32 text"
    BINARY = "binary data"
    TEXT = "other text"


#: Reads every rule and sitemap that any edition reads.
_MOST_LENIENT = replace(EDITIONS["google"], max_line=None, nul_ends_line=False)
_HEAD = 1000  #: bytes at the start of a file that tell its kind
_UTF32_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: Byte order marks, white space and comments of markup, of any length.
_BEFORE_MARKUP = re.compile(rb"(?:\xef\xbb\xbf|\s+|<!--.*?-->)*", re.S)
_XML = re.compile(
    rb"<(?:\?xml\b|!doctype\s+(?!html)|[a-z_][\w:.-]*\s[^>]*\bxmlns|(?:error|urlset|rss|feed)\b)",
    re.I,
)
_DOCUMENT = re.compile(rb"<(?:!doctype\s*html|html\b)", re.I)
#: The beginning of a page, or of a part of one: any tag, or a comment without an end.
_MARKUP = re.compile(rb"<(?:!doctype|!--|[a-z][\w-]*[\s/>])", re.I)
_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[\]{\"])")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 5  #: percent of control characters in a text; random bytes have 10
_READ = ("allow", "disallow", "sitemap")
_SPELLINGS = b"|".join(text for text, field in _MOST_LENIENT.known_fields if field in _READ)
#: Files without a match contain no rule and no sitemap that any edition reads.
_MAY_BE_READ = tuple(
    re.compile(rb"%b[ \t\x0b\x0c\xef\xbb\xbf]*(?:%b)" % (begin, _SPELLINGS), re.I)
    for begin in (rb"\A", rb"\n", rb"\r")  # literals are found faster
)

#: Lines that are meant as some of a robots.txt file: a known field, or one that resembles it, with
#: a colon (U+FF1A, too), or with a value that prose does not have after the word. U+00A0, U+200B
#: and byte order marks count as white space, byte by byte. Error pages repeat the header of their
#: request, so a user agent with a version counts in the first line alone. Compiled on first use.
_MEANT_LINE = rb"""(?ix)
    \A [\s\xc2\xa0\xe2\x80\x8b\xef\xbb\xbf]* user-?agent [ \t]* :
    | (?: \A | [\r\n] ) [>*"'`/; \t\xc2\xa0\xe2\x80\x8b\xef\xbb\xbf-]* (?:
        (?: (?: d[a-z]{2,5} [-_ ]? )? al+o?w? (?: ed | s )?
            | site[-_ ]?maps? | crawl-?delay | content-(?: usage | signal ) | license | clean-param
            | host | noindex | request-rate | visit-time
        ) [ \t\xc2\xa0\xe2\x80\x8b]* (?: : | \xef\xbc\x9a )
        | user[-_ ]?agents? [ \t\xc2\xa0\xe2\x80\x8b]* (?: : | \xef\xbc\x9a )
            (?! [ \t]* [\w.-]* [ \t]? [/(;] )
        | (?: d[a-z]{2,5} )? al+o?w? [ \t]+ [/*]
        | user-?agent [ \t]+ \*
        | site-?map [ \t]+ http
        | crawl-?delay [ \t]+ [0-9]
    )"""
#: The start of a line that is meant as a rule, misspelled ones included.
_RULE = re.compile(rb"(?:\A|[\r\n])[^\w#\r\n]*(?:d[a-z]{2,5}[-_ ]?)?al+o?w", re.I)
#: The start of a line that is neither blank nor a comment.
_CONTENT = re.compile(rb"(?:\A(?:\xef\xbb\xbf|(?!\xef\xbb\xbf))|[\r\n])[ \t]*[^\s#]")


def foreign_kind(body: bytes) -> FileKind | None:
    """The kind of content other than a robots.txt file (FET-20).

    Content with a group or a sitemap that any edition reads is a robots.txt file, whatever is
    around it (FET-06). So is text with a line that is meant as one, text of nothing but comments,
    and an empty response.
    """
    kind = format_of(body)
    if kind is None:
        is_text = _CONTENT.search(body) and not has_lines(body)
        return FileKind.TEXT if is_text else None
    return None if _is_read(body) else kind


def format_of(body: bytes) -> FileKind | None:
    """The format that the beginning of a file shows; None for text."""
    head = body[:_HEAD]
    has_nul = b"\0" in head
    if head.startswith(_UTF32_MARKS) or (has_nul and _is_padded(head, 4)):
        return FileKind.UTF32
    if head.startswith(_UTF16_MARKS) or (has_nul and _is_padded(head, 2)):
        return FileKind.UTF16
    skipped = _BEFORE_MARKUP.match(body).end()  # type: ignore[union-attr]  # may be empty
    start = body[skipped : skipped + _HEAD]
    if _XML.match(start):
        return FileKind.HTML if _DOCUMENT.search(start) else FileKind.XML
    if _MARKUP.match(start) or (b"<!--" in head and not start):
        return FileKind.HTML
    if _JSON.match(start):
        return FileKind.JSON
    is_binary = len(_CONTROL.findall(head)) * 100 > len(head) * _MOST_CONTROL
    return FileKind.BINARY if is_binary else None


def is_view_of_text(body: bytes) -> bool:
    """Whether an HTML page is a browser's view of a robots.txt.

    The rules stand in its only ``<pre>``.
    """
    parts = re.split(rb"(?i)</?pre\b[^>]*>", body)
    return len(parts) == 3 and _is_read(parts[1])


def has_lines(body: bytes) -> bool:
    """Whether any line of a text is read, or meant as one."""
    return re.search(_MEANT_LINE, body) is not None or _is_read(body)


def has_rules(body: bytes) -> bool:
    """Whether a line of a robots.txt is meant as a rule."""
    return _RULE.search(body) is not None


def _is_read(body: bytes) -> bool:
    """Whether any edition reads a rule of a group, or a sitemap.

    Pages repeat the User-Agent header of their request, and scripts in them have lines such as
    ``userAgentElement = …``: a group without rules does not count.
    """
    from scrapy_robotspec.protocol.groups import AllGroups, read_sitemaps  # few files

    return any(each.search(body) for each in _MAY_BE_READ) and (
        any(group.rules for group in AllGroups(body, _MOST_LENIENT).groups)
        or read_sitemaps(body, _MOST_LENIENT) != ()
    )


def _is_padded(head: bytes, width: int) -> bool:
    """Whether one byte of each *width* is text and the others are NUL, as without a mark."""
    units = len(head) // width
    parts = [head[start::width].count(0) * 10 > units * 9 for start in range(width)]
    return units > 1 and sum(parts) == width - 1
