"""Recognises HTML, JSON, binary data and other text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK
from scrapy_robotspec.protocol.lint.findings import Remark

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

_PAGE_CODE = "RS152"
_MESSAGES = {
    _PAGE_CODE: "The file is an HTML or XML page",
    "RS153": "The file is written in UTF-16, not in UTF-8",
    "RS154": "The file contains binary data",
    "RS155": "The file contains JSON",
    "RS156": "No line is one of a robots.txt file",
}
_HEAD = 1000  #: bytes at the start of a file that tell its kind
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"
#: The start of a page, after white space and comments.
_PAGE = re.compile(rb"<(?:!doctype|html|head|body|\?xml)\b", re.I)
_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[\]{\"])")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 10  #: percent of control characters in a text
_AGENT_LINE = re.compile(rb"(?:\A|[\r\n])user-agent:", re.I)
#: A line that is meant as one of a robots.txt file, even if a colon or a letter is wrong. Compiled
#: for files without the line above.
_ROBOTS_LINE = (
    rb"(?i)(?:\A|[\r\n])(?:\xef\xbb\xbf)?[ \t]*(?:"
    rb"user[-_ ]?agents?|d[a-z]{2,5}al+o?w?(?:ed)?|al+ow(?:ed)?|site-?maps?|crawl-?delay"
    rb"|content-(?:usage|signal)|license|clean-param|host|request-rate|visit-time"
    rb")(?:[ \t]*:|[ \t]+[/*A-Za-z])"
)
#: The start of a line that is neither blank nor a comment.
_CONTENT = re.compile(rb"(?:\A(?:\xef\xbb\xbf|(?!\xef\xbb\xbf))|[\r\n])[ \t]*[^\s#]")


def other_kind(robots: RobotsTxt) -> Remark | None:
    """The remark about a file of another kind, or None."""
    code = kind_code(robots.body)
    if code is None:
        return None
    read = f"{robots.edition.name} finds no valid line in it"
    if code == _PAGE_CODE:
        read = _rules_read(robots)
    return Remark(code, f"{_MESSAGES[code]}; {read}.")


def kind_code(body: bytes) -> str | None:
    """The linter's code for a file of another kind, or None."""
    head = body[:_HEAD]
    if head.startswith(_UTF16_MARKS) or _is_utf16(head):
        return "RS153"
    if _is_page(head):
        return _PAGE_CODE
    if _AGENT_LINE.search(body) or re.search(_ROBOTS_LINE, body) or not _CONTENT.search(body):
        return None
    if head.startswith(_GZIP) or _is_binary(head):
        return "RS154"
    return "RS155" if _JSON.match(head.removeprefix(BYTE_ORDER_MARK)) else "RS156"


def _is_page(head: bytes) -> bool:
    """Whether a document begins here, after a byte order mark, white space and comments."""
    rest = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    while rest.startswith(b"<!--"):
        rest = rest.partition(b"-->")[2].lstrip()
    return bool(_PAGE.match(rest))


def _is_utf16(head: bytes) -> bool:
    """Whether every other byte is NUL, as in UTF-16 without a byte order mark."""
    pairs = len(head) // 2
    return pairs > 1 and any(head[start::2].count(0) * 10 > pairs * 9 for start in (0, 1))


def _is_binary(head: bytes) -> bool:
    return len(_CONTROL.findall(head)) * 100 > len(head) * _MOST_CONTROL


def _rules_read(robots: RobotsTxt) -> str:
    count = 0
    body = robots.body.lower()
    spellings = robots.edition.known_fields
    if any(spelling in body for spelling, field in spellings if field == "user-agent"):
        count = sum(len(group.rules) for group in robots.groups)
    rules = "no rule" if not count else f"{count} rule{'s' if count > 1 else ''}"
    return f"{robots.edition.name} reads {rules} of it"
