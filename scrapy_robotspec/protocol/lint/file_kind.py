"""The remark about a file of another kind than robots.txt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.file_kind import FileKind, format_of
from scrapy_robotspec.protocol.lint.findings import Remark

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

_CODES = {
    FileKind.HTML: "RS152",
    FileKind.XML: "RS152",
    FileKind.UTF16: "RS153",
    FileKind.UTF32: "RS153",
    FileKind.BINARY: "RS154",
    FileKind.JSON: "RS155",
    FileKind.TEXT: "RS156",
}
_MESSAGES = {
    "RS152": "The file is an HTML or XML page",
    "RS153": "The file is written in UTF-16, not in UTF-8",
    "RS154": "The file contains binary data",
    "RS155": "The file contains JSON",
    "RS156": "No line is one of a robots.txt file",
}
#: Kinds whose files have one finding, whatever lines they contain.
_WHOLE = (FileKind.HTML, FileKind.XML, FileKind.UTF16, FileKind.UTF32)
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
    kind = kind_of(robots.body)
    if kind is None:
        return None
    read = f"{robots.edition.name} finds no valid line in it"
    if kind in (FileKind.HTML, FileKind.XML):
        read = _rules_read(robots)
    code = _CODES[kind]
    return Remark(code, f"{_MESSAGES[code]}; {read}.")


def kind_of(body: bytes) -> FileKind | None:
    """The kind of a file that is not a robots.txt, or None."""
    kind = format_of(body)
    if kind in _WHOLE:
        return kind
    if _AGENT_LINE.search(body) or re.search(_ROBOTS_LINE, body) or not _CONTENT.search(body):
        return None
    return kind or FileKind.TEXT


def _rules_read(robots: RobotsTxt) -> str:
    count = 0
    body = robots.body.lower()
    spellings = robots.edition.known_fields
    if any(spelling in body for spelling, field in spellings if field == "user-agent"):
        count = sum(len(group.rules) for group in robots.groups)
    rules = "no rule" if not count else f"{count} rule{'s' if count > 1 else ''}"
    return f"{robots.edition.name} reads {rules} of it"
