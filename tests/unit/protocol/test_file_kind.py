"""FET-20: responses that are not a robots.txt file are recognised by their content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import EDITIONS, RobotsTxt
from scrapy_robotspec.protocol.file_kind import FileKind, foreign_kind, format_of

RULES = b"User-agent: *\nDisallow: /x\n"
PAGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>%s</body></html>"
OTHERS = {
    FileKind.HTML: [
        PAGE % b"wait",
        b"\xef\xbb\xbf\n <!-- a --><HTML>\n</HTML>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">\n<html xmlns="y">',
        b"<script>location.reload()</script>",
        b"<h1>Not found</h1>",
        PAGE % b"\nDisallow: /x\nuser agents are checked\nsite: a\n",
        PAGE % b"\nuserAgentElement.innerHTML = '<b>User agent: </b>'\nsitemapMethods: null\n",
    ],
    FileKind.XML: [
        b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>',
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>',
    ],
    FileKind.JSON: [b'{"error": 404}', b"[]", b" {}", b'[{"a": 1}]'],
    FileKind.UTF16: [text.encode("utf-16") for text in ("User-agent: *\nDisallow: /\n", "<p>ab")]
    + ["User-agent: *\nDisallow: /\n".encode("utf-16-le")],
    FileKind.UTF32: ["User-agent: *\n".encode("utf-32"), "User-agent: *\n".encode("utf-32-be")],
    FileKind.BINARY: [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", b"\x1f\x8b\x08\0\0\0\0\0\0\3" * 9],
}


@pytest.mark.parametrize(
    ("kind", "body"), [(kind, body) for kind, bodies in OTHERS.items() for body in bodies]
)
def test_other_content_is_named(kind: FileKind, body: bytes) -> None:
    """FET-20."""
    assert foreign_kind(body) is kind


@pytest.mark.parametrize(
    "body", [b"", b"# nothing yet\n", b"Not found", b"Disallow: /", b"\xef\xbb\xbf" + RULES, b"<x"]
)
def test_text_is_not_named(body: bytes) -> None:
    """FET-20 names content of another format alone: an empty file allows all (RUL-01)."""
    assert foreign_kind(body) is None


@pytest.mark.parametrize(
    "lines", [RULES, b"  useragent: *\nDisalow: /", b"Sitemap: https://a.example/s\n"]
)
@pytest.mark.parametrize("before", [b"<html>\r", b'{"a": 1}\n', b"\0" * 300 + b"\n"])
def test_a_file_with_lines_that_an_edition_reads_is_a_robots_txt(
    before: bytes, lines: bytes
) -> None:
    """FET-06, FET-20."""
    assert format_of(before + lines) is not None
    assert foreign_kind(before + lines) is None


@given(st.binary(max_size=60), st.sampled_from(["<html>", "{}", "<?xml ?>"]))
def test_content_with_a_group_is_never_named(body: bytes, begin: str) -> None:
    """FET-20: no rule that decides stands in a response that is called something else."""
    whole = begin.encode() + b"\n" + body.replace(b"a", b"\nuser-agent:x\ndisallow:/\n")
    if any(group.rules for name in EDITIONS for group in RobotsTxt.parse(whole, name).groups):
        assert foreign_kind(whole) is None
