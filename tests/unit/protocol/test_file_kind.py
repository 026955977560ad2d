"""FET-20: responses that are not a robots.txt file are recognised by their content."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec import EDITIONS, Edition, RobotsTxt
from scrapy_robotspec.protocol import groups
from scrapy_robotspec.protocol.file_kind import FileKind, foreign_kind, is_view_of_text
from scrapy_robotspec.protocol.lines import Line, read_lines
from tests.unit.protocol.strategies import bodies

RULES = b"User-agent: *\nDisallow: /x\n"
PAGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>%s</body></html>"
NOISE = b"".join(sha256(b"%d" % i).hexdigest().encode() for i in range(30))
OTHERS = {
    FileKind.HTML: [
        PAGE % b"wait",
        b"\xef\xbb\xbf\n <!-- a --><HTML>\n</HTML>",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">\n<html xmlns="y">',
        b"<script>location.reload()</script>",
        b"<h1>Not found</h1>",
        PAGE % b"\nDisallow: /x\nuser agents are checked\nsite: a\n",
        PAGE % b"\nuserAgentElement.innerHTML = '<b>User agent: </b>'\nsitemapMethods: null\n",
        PAGE % b"<pre>\nUser-Agent: Mozilla/5.0 (X11)\nHost: a.example\n</pre>",
        b'<!doctypehtml><meta charset="utf-8"><script>var challenge = {}</script>',
        b"<!-- " + NOISE + b" -->\n<!-- -->\n<!doctype html>",
        b"<!-- " + NOISE,
        b'<a href="/x"></a><script>1</script>',
        b"<main><h1>Oops</h1></main>",
        b"<br />\n<b>Warning</b>:  cannot connect in /srv/app/index.php on line 3<br />\n",
        b"<my-app></my-app>",
    ],
    FileKind.XML: [
        b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>',
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>',
        b"<?xml version='1.0'?><rss><channel><title>News</title><link>/</link></channel></rss>",
        b"<!DOCTYPE note SYSTEM 'note.dtd'>",
    ],
    FileKind.JSON: [b'{"error": 404}', b"[]", b" {}", b'[{"a": 1}]'],
    FileKind.UTF16: [text.encode("utf-16") for text in ("User-agent: *\nDisallow: /\n", "<p>ab")]
    + ["User-agent: *\nDisallow: /\n".encode("utf-16-le")],
    FileKind.UTF32: ["User-agent: *\n".encode("utf-32"), "User-agent: *\n".encode("utf-32-be")],
    FileKind.BINARY: [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", b"\x1f\x8b\x08\0\0\0\0\0\0\3" * 9],
    FileKind.TEXT: [
        b"Not found",
        b"Access denied by the security policy of this site.",
        b"Access to this site has been denied.",
        b"too many requests",
        b"Disallowed by the administrator.\nAllow cookies to continue.\nHost unreachable\n",
        b"User agents are checked. Sitemap not available",
        b"Error 1020\nUser-Agent: Mozilla/5.0 (X11; Linux)\nIP: 192.0.2.1\n",
        b"ip: 192.0.2.1\nuser-agent: python-requests/2.31\n",
        b"# robots\n> A page about robots.txt files\n",
        b"Contact: mailto:a@site.example\n",
        "Доступ запрещён".encode(),
        b"<x",
    ],
}


@pytest.mark.parametrize(
    ("kind", "body"), [(kind, body) for kind, bodies in OTHERS.items() for body in bodies]
)
def test_other_content_is_named(kind: FileKind, body: bytes) -> None:
    """FET-20."""
    assert foreign_kind(body) is kind


@pytest.mark.parametrize(
    "body",
    [b"", b" \n\t\r\n", b"# nothing yet\n", b"\xef\xbb\xbf# a\r#b", b"\xef\xbb\xbf" + RULES],
)
def test_file_without_any_line_is_a_robots_txt(body: bytes) -> None:
    """FET-20: an empty file, and one of comments alone, allow all (RUL-01)."""
    assert foreign_kind(body) is None


@pytest.mark.parametrize(
    "line",
    [
        *[
            "Disallow: /",
            "Disalow: /x",
            "Dis allow : /x",
            "dissallow /x",
            "Allow: all",
            "disallow *",
        ],
        *["User-agent: *", "user agent: bot", "Useragent *", "User-agent: * Disallow: /x"],
        *["User-agent: *\\nDisallow: /", "Sitemap: /s.xml", "Sitemap https://a.example/s.xml"],
        *["Crawl-delay 5", "Host: a.example", "Content-Signal: search=yes", "Noindex: /x"],
        *[
            "\u200bUser-agent: *",
            "\ufeff\ufeffDisallow: /",
            "Disallow\u00a0: /",
            "Disallow\uff1a /",
        ],
        *["- Disallow: /x", '"User-agent: *', "// Disallow: /x", "> User-agent: *"],
    ],
)
def test_line_that_is_meant_as_one_makes_a_file(line: str) -> None:
    """FET-20: a known field, misspelled or without its colon, beside anything."""
    for body in (line, f"Hello.\n{line}\n", f"Hello.\r{line}"):
        assert foreign_kind(body.encode()) is None, body
    assert foreign_kind(f"Hello {line}".encode()) is FileKind.TEXT


@pytest.mark.parametrize(
    "lines", [RULES, b"  useragent: *\nDisalow: /", b"Sitemap: https://a.example/s\n"]
)
@pytest.mark.parametrize("before", [b"<html>\r", b'{"a": 1}\n', b"\0" * 300 + b"\n", b"Hello.\n"])
def test_a_file_with_lines_that_an_edition_reads_is_a_robots_txt(
    before: bytes, lines: bytes
) -> None:
    """FET-06, FET-20."""
    assert foreign_kind(before) is not None
    assert foreign_kind(before + lines) is None


@given(st.binary(max_size=60), st.sampled_from(["<html>", "{}", "<?xml ?>", "Hello."]))
def test_content_with_a_group_is_never_named(body: bytes, begin: str) -> None:
    """FET-20: no rule that decides stands in a response that is called something else."""
    whole = begin.encode() + b"\n" + body.replace(b"a", b"\nuser-agent:x\ndisallow:/\n")
    if any(group.rules for name in EDITIONS for group in RobotsTxt.parse(whole, name).groups):
        assert foreign_kind(whole) is None


@given(body=bodies)
def test_one_reading_finds_what_any_edition_reads(body: bytes) -> None:
    """FET-06: a page with a rule or a sitemap that some edition reads is a file with rules."""
    page = PAGE % b"wait" + b"\n" + body
    robots = [RobotsTxt.parse(page, name) for name in EDITIONS]
    is_read = any(each.sitemaps or any(group.rules for group in each.groups) for each in robots)
    assert (foreign_kind(page) is None) is is_read


def test_a_page_without_a_rule_is_not_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: scripts have long lines that begin as fields do."""
    read: list[bytes] = []

    def counted(body: bytes, edition: Edition) -> Iterator[Line]:
        read.append(body)
        return read_lines(body, edition)

    monkeypatch.setattr(groups, "read_lines", counted)
    script = b"\n  userAgentElement.hidden = true\n  site = 'https://a.example'\n" * 100
    assert foreign_kind(PAGE % script) is FileKind.HTML
    assert read == []
    assert foreign_kind(PAGE % (script + RULES)) is None
    assert len(read) == 1


VIEW = PAGE % (b'<pre style="word-wrap: break-word">' + RULES + b"</pre>")


def test_a_browsers_view_of_a_robots_txt_is_recognised() -> None:
    """Its rules stand in one element; the headers of a request, or two elements, are no view."""
    assert foreign_kind(VIEW) is FileKind.HTML
    assert is_view_of_text(VIEW)
    assert is_view_of_text(VIEW.replace(b"pre", b"PRE"))
    headers = PAGE % b"<pre>User-Agent: Mozilla/5.0 (X11)\nHost: a.example\n</pre>"
    for other in (headers, PAGE % RULES, VIEW + b"<pre></pre>", RULES, b"", PAGE % b"<pre>"):
        assert not is_view_of_text(other)
