"""Each code of the linter: a file that has the finding, and a similar one that has not."""

from __future__ import annotations

import gzip
from typing import NamedTuple

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lint.findings import CODES, Code
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

MODERN = ("google-2019", "rfc9309", "google-2010")
CLASSIC = ("classic",)
ALL = tuple(EDITIONS)


class Row(NamedTuple):
    """A code, a file with the lines that have it, and a file without it."""

    code: str
    ids: str
    bad: bytes
    lines: tuple[int, ...]
    good: bytes
    editions: tuple[str, ...] = ALL


ANY = b"User-agent: *\n"
ONE = b"User-agent: a\n"
LONG = b"#" * 300_000 + b"\n"
RULE = ANY + b"Disallow: /x/\n"
USE = ANY + b"Disallow: /x/\nContent-Usage: "
SIGNAL = ANY + b"Disallow: /x/\nContent-Signal: "
NOT_GOOGLE = (*MODERN, *CLASSIC)
TABLE = [
    Row("RS101", "FMT-11", ANY + b"Disallow\nDisallow /a/ b\n", (2, 3), ANY + b"Disallow: /a/\n"),
    Row("RS101", "FMT-06", ANY + b": /a/\n", (2,), ANY + b"# no line\n"),
    Row("RS102", "FMT-10", b"Useragent: *\nDisalow: /\n", (1, 2), ANY + b"Disallow: /\n"),
    Row("RS102", "FMT-10", ANY + b"Alow: /\nSite map: x\n", (2, 3), ANY + b"Crawl-delay: 1\n"),
    Row("RS102", "FMT-10", ANY + "Dis\u0430llow: /".encode(), (2,), ANY + "D\u0430: /".encode()),
    Row("RS102", "USE-01", USE[:-15] + b"Content-Usages: train-ai=n\n", (3,), USE + b"a=n\n"),
    Row("RS103", "FMT-14", ANY + b"Nocache: /\n", (2,), ANY + b"Disallow: /\n"),
    Row("RS111", "FMT-14", ANY + b"Noindex: /\nNOINDEX: /a", (2, 3), ANY + b"Nocache: /\n"),
    Row("RS101", "FMT-06", ANY + b"/*?*\n/cart\nhttps://a.example/s.xml\n*/a\nAllow:: /a",
        (2, 3, 4, 5, 6), ANY + b"Disallow: /https://a\nAllow: /::"),
    Row("RS103", "EXT-03", ANY + b"X: y\n", (2,), USE + b"search=n\nLicense: http://a/\n"),
    Row("RS103", "FMT-15", RULE + b"Sitemap: http://a/\nHost: a\n", (3, 4), ANY, CLASSIC),
    Row("RS104", "FMT-04", ANY + b"Disallow: /\xe9/\n", (2,), ANY + b"Disallow: /\xc3\xa9/\n"),
    Row("RS105", "FMT-13", ANY + b"#" + b"a" * 16_663, (2,), ANY + b"#" * 16_663, ("google",)),
    Row("RS106", "FMT-14", ANY + b"Disallow: /\0/\n", (2,), ANY + b"Disallow:\t/\n"),
    Row("RS107", "FMT-02", b"User-agent: *\\nDisallow:/", (1,), RULE + b"Disallow: /\\na"),
    Row("RS107", "FMT-02", b"User-agent: * \\r\\n Allow : /\n", (1,), ANY + b"#\\n"),
    Row("RS107", "FMT-02", b"User-agent: * Disallow: /a\nAllow: /b, Sitemap: c\nAllow: allow: /a",
        (1, 2, 3), ANY + b"Disallow: /a # or allow: /b\nAllow: /allow:/b"),
    Row("RS107", "FMT-02", b"User-agent: *Disallow: /a\nAllow: /Sitemap: https://a/\n"
        b"Allow: /b;Host: c\nDisallow: /xDisallow:/y\nSitemap: http://a/bSitemap:http://c\n"
        b"Allow: /Crawl-delay: 1\n", (1, 2, 3, 4, 5, 6),
        ANY + b"Allow: /*host:\nAllow: /allow:/b\nSitemap: http://host:80/\n"),
    Row("RS108", "FMT-05", "\u00ef\u00bb\u00bf".encode() + RULE, (1,), b"\xef\xbb\xbf" + RULE),
    Row("RS108", "FMT-05", b"\xef\xbb\xbf" * 2 + RULE, (1,), b"\xef\xbb\xbf" + RULE),
    Row("RS109", "FMT-06", ANY + "Disallow\uff1a /\n\ufeffSitemap: a\n\u200bAllow: /".encode(),
        (2, 3, 4), ANY + "\uff1a\nD\u00e9: /\n# \u201cq\nAllow: /\u200c".encode(), NOT_GOOGLE),
    Row("RS109", "UAG-03", "User-agent: \u201cFoo\u201d\nSitemap: https://a/\u00a0".encode(),
        (1, 2), "User-agent: Foo # \u201c\nSitemap: https://a/\u00e9".encode()),
    Row("RS110", "FMT-07",
        b"// a: b\n```txt\n<meta name='robots'>\n=====\n/* c */\n<!-- d -->\n" + ANY,
        (1, 2, 3, 4, 5, 6), b"#// a: b\n" + ANY + b"Disallow: //a\n"),
    Row("RS151", "FMT-12", ANY + LONG + LONG, (0,), ANY + LONG),
    Row("RS152", "FMT-03", b"\xef\xbb\xbf\n<!DOCTYPE html>\n<p>\n", (0,), b"# <html>\n" + ANY),
    Row("RS152", "FMT-03", b"<!-- a --> <!---->\n<HTML>\n" + RULE[14:], (0,), b"<html>\n" + RULE),
    Row("RS153", "FMT-01", "\ufeffUser-agent: *".encode("utf-16-le"), (0,), ANY),
    Row("RS153", "FMT-01", "User-agent: *\nDisallow: /".encode("utf-16-be"), (0,), RULE),
    Row("RS154", "FMT-03", gzip.compress(RULE, mtime=0), (0,), RULE + b"\0\1\2\3" * 99),
    Row("RS154", "FMT-03", bytes(range(256)), (0,), "Lœwe\n".encode()),
    Row("RS155", "FMT-03", b'\n{\n  "error": 404\n}\n', (0,), RULE + b'{"a": 1}'),
    Row("RS155", "FMT-03", b'[{"allow": 1}]', (0,), b"[a]\n" + RULE),
    Row("RS156", "FMT-03", b"# a\nNot found\n", (0,), b"# a\n\n \t\n# b"),
    Row("RS156", "FMT-03", b"ok", (0,), b""),
    Row("RS201", "GRP-05", b"Disallow: /\nAllow:\n" + ANY, (1, 2), ANY + b"Disallow: /"),
    Row("RS201", "FMT-15", ANY + b"\nAllow: /\n", (3,), ANY + b"#\nAllow: /", CLASSIC),
    Row("RS201", "EXT-01", b"Crawl-delay: 1\n" + RULE, (1,), b"Host: a\n" + RULE, MODERN),
    Row("RS201", "USE-01", b"Content-Usage: a=n\n" + RULE, (1,), SIGNAL[-16:] + b"a=no\n" + RULE),
    Row("RS202", "UAG-03", b"User-agent: .com\nUser-agent:\n", (1, 2), ONE, MODERN),
    Row("RS202", "UAG-03", b"User-agent: /1\n", (1,), ONE),
    Row("RS203", "UAG-03", b"User-agent: F x\nUser-agent: * x", (1, 2), b"User-agent: F", MODERN),
    Row("RS203", "GRP-10", b"User-agent: a, b\n", (1,), b"User-agent: a_b\n", MODERN),
    Row("RS205", "GRP-08", b"User-agent: a\nAllow: /\nUser-agent: A\n", (3,), ONE + ONE),
    Row("RS206", "GRP-06", ONE, (1,), b"User-agent: a\nDisallow:\n"),
    Row("RS208", "GRP-03", ONE + b"\n" + ONE + ONE, (3,), ONE + ONE, MODERN),
    Row("RS208", "GRP-02", ANY + b"\n" + ONE + b"Disallow: /\n", (3,),
        ANY + ONE + b"Disallow: /\n", (*MODERN, "google")),
    Row("RS208", "GRP-04", ONE + b"Crawl-delay: 1\n" + ONE, (3,), ONE + b"#\n" + ONE),
    Row("RS209", "UAG-01", b"User-agent: ChatGPT-User\nUser-agent: emailsiphon\n", (1, 2),
        b"User-agent: GPTBot\nUser-agent: facebookexternalhit\n"),
    Row("RS210", "UAG-03", b"User-agent: Googelbot\nUser-agent: GPT-bot/1\nUser-agent: OpenAI\n",
        (1, 2, 3), b"User-agent: googlebot/2.1\nUser-agent: Mediapartners-Google*\n"
        b"User-agent: Dogbot\nUser-agent: Googlebot-Imagery\nUser-agent: rovingbot\n",
        (*MODERN, "google")),
    Row("RS210", "UAG-05", b"User-agent: All\nUser-agent: \xe2\x80\xa2 x\n", (1,), ANY,
        (*MODERN, "google")),
    Row("RS211", "UAG-03", b"User-agent: Mozilla/5.0 (compatible; examplebot/2.1)\n", (1,),
        b"User-agent: examplebot/2.1 (+https://a.example/)\n"),
    Row("RS214", "UAG-03", b"User-agent: Google*\nUser-agent: *bot\nUser-agent: a**/2", (1, 2, 3),
        b"User-agent: Googlebot*\nUser-agent: *\nUser-agent: a/*\n"),
    Row("RS215", "UAG-05", ANY + b"Disallow: /a\nUser-agent: b\nDisallow: /x", (3,),
        ANY + b"Disallow: /a\nUser-agent: b\nDisallow: /a"),
    Row("RS216", "RUL-05", ONE + b"Allow: /\n" + ANY + b"Disallow: /a\nDisallow: /\n", (5,),
        ONE + b"Disallow: /\n" + ANY + b"Disallow: /\nAllow: /a"),
    Row("RS218", "UAG-05", ANY + b"Disallow: /a\n" + ONE + b"Allow: /\nUser-agent: b\nAllow: *",
        (3,), ANY + b"Disallow: /a\n" + ONE + b"Disallow:\nUser-agent: b\nAllow: /\nDisallow: /b"),
    Row("RS218", "UAG-05", ANY + b"Allow: /\nDisallow: /a\n" + ONE + b"Allow: /", (4,),
        ANY + b"Disallow: /\n" + ONE + b"Allow: /"),
    Row("RS219", "UAG-03", b"User-agent: AI2Bot\nUser-agent: MJ12bot/v1\nUser-agent: 360Spider\n"
        b"User-agent: archive.org_bot\n", (1, 2, 3, 4), b"User-agent: AIBot/2\nUser-agent: a b2",
        (*MODERN, "google")),
    Row("RS301", "RUL-04", ANY + b"Disallow: a\nAllow: $\n", (2, 3), ANY + b"Disallow: /a\n"),
    Row("RS302", "PAT-02", ANY + b"Disallow: /a$b\n", (2,), ANY + b"Disallow: /a$\n", MODERN),
    Row("RS302", "PAT-02", ANY + b"Disallow: /a$b\nDisallow: /$a\n", (2, 3), ANY, MODERN),
    Row("RS303", "PRE-01", ANY + b"Allow: /%c3\n" * 2, (3,), ANY + b"Allow: /a\nAllow: /A\n"),
    Row("RS303", "GRP-08", RULE + RULE + b"Allow: /\n", (4,), RULE + RULE),
    Row("RS303", "GRP-01", RULE + b"Disallow: /x/\n" + ONE, (3,), RULE + ONE + b"Disallow: /x/\n"),
    Row("RS304", "PRE-02", ANY + b"Disallow: /a\nAllow: /a\n", (3,), ANY + b"Allow: /a\n"),
    Row("RS305", "PAT-03", ANY + b"Disallow: /a*\n", (2,), ANY + b"Disallow: /a*$\n", MODERN),
    Row("RS306", "PAT-02", ANY + b"Allow: /*a\nAllow: /$", (2, 3), ANY + b"Allow: /", CLASSIC),
    Row("RS307", "RUL-02", ANY + b"Disallow:\nAllow: /a\n", (2,), ANY + b"Disallow:\n"),
    Row("RS307", "RUL-02", ANY + b"Allow:\nDisallow:\n", (3,), ANY + b"Disallow:\n" + ONE),
    Row("RS308", "PAT-07", ANY + b"Disallow: /%4\nAllow: /%", (2, 3), ANY + b"Disallow: /%41\n"),
    Row("RS309", "PAT-12", ANY + b"Disallow: /a /b\n", (2,), ANY + b"Disallow: /a%20 # b\n"),
    Row("RS310", "RUL-04", ANY + b"Disallow: *\nAllow: **\n", (2, 3), ANY + b"Allow: *a"),
    Row("RS311", "RUL-04", ANY + b"Disallow: none\nAllow: http://a/b\nAllow: \"/\"\nAllow: //a",
        (2, 3, 4), ANY + b"Allow: /none\nAllow: nonesuch\nAllow: /http://a/\n"),
    Row("RS312", "PAT-12", ANY + b"Allow: /[\nAllow: /|\nAllow: /\"^\n", (2, 3, 4),
        ANY + b"Allow: /%5B(!'~,;@\n", NOT_GOOGLE),
    Row("RS312", "PAT-04", ANY + "Allow: /\u00e9\nAllow: /*\u65e5$\n".encode(), (2, 3),
        ANY + b"Allow: /%C3%A9\nAllow: /\xe9\nAllow: /a\xc2\xad\n"),
    Row("RS313", "PAT-12", ANY + b"Allow: /[\nAllow: /|\nAllow: /\"^\n", (2, 3, 4),
        ANY + b"Allow: /%5B(!'~,;@\n", ("google",)),
    Row("RS314", "PAT-04", ANY + "Disallow: /a\u200b\nAllow: /\u00a0\ufeff".encode(), (2, 3),
        ANY + "Disallow: /a\u200cb\nDisallow: /\u00e9".encode()),
    Row("RS314", "PAT-04", ANY + "Disallow:\u00a0/a\nAllow: /a\u00adb".encode(), (2, 3),
        ANY + b"Allow: /a"),
    Row("RS315", "FMT-07", ANY + b"Disallow: /#a\nAllow: /b#\nAllow: /c#/c", (2, 3, 4),
        ANY + b"Disallow: /a #b\nAllow: #b\nAllow: /c# d\nAllow: /d#e f"),
    Row("RS316", "PAT-12", ANY + b"Disallow: /?a&amp;b\nDisallow: /?a&#38;b", (2, 3),
        ANY + b"Disallow: /?a&b;amp;\nDisallow: /?a&amp"),
    Row("RS317", "PAT-02", ANY + b"Disallow: /.*\\.pdf$\nAllow: /[0-9]+/\nAllow: /(a|b)\n",
        (2, 3, 4), ANY + b"Allow: /*.pdf$\nAllow: /a[b]\nAllow: /(a)\nAllow: /*|\nAllow: /a.*"),
    Row("RS317", "PAT-02", ANY + b"Disallow: /user/:id\nAllow: /{id}\nAllow: /<int:id>/", (2, 3, 4),
        ANY + b"Allow: /user:id\nAllow: /a{b}\nAllow: /:8080"),
    Row("RS317", "RUL-04", ANY + b"Allow: ^/a\nAllow: .*", (2, 3), ANY + b"Allow: /^\nAllow: *.a"),
    Row("RS318", "PAT-15", ANY + b"Disallow: /../a\nAllow: /a/%2E/b", (2, 3),
        ANY + b"Disallow: /.\nAllow: /..a/\nAllow: /...\nAllow: /.a/"),
    Row("RS319", "EXT-04", RULE + ONE + b"Allow: /b\nAllow: /a\n", (4,), RULE + b"Allow: /b"),
    Row("RS319", "EXT-04", ANY + b"Allow: /a/\nAllow: /b/\n", (2,), ANY + b"Allow: /\nAllow: /b"),
    Row("RS320", "PAT-01", ANY + b"Disallow: //\nAllow: /a/;\nAllow: //*\nAllow: *,", (2, 3, 4, 5),
        ANY + b"Disallow: //a\nAllow: /a//\nAllow: /a;b\nAllow: /a&lt;"),
    Row("RS319", "EXT-04", ANY + b"Allow: *.css\n", (2,), ANY + b"Allow: none"),
    Row("RS321", "PAT-05", ANY + b"Disallow: /a%252Fb\nAllow: /caf%25C3%25A9/$", (2, 3),
        ANY + b"Allow: /100%25\nAllow: /%25zz\nAllow: /?a%253D\nAllow: /%2525"),
    Row("RS401", "SIT-03", b"Sitemap: /s.xml\n", (1,), b"Sitemap: http://a/s.xml\n", MODERN),
    Row("RS401", "SIT-03", b"Sitemap: https://<domain_name>/s\nSitemap: https://{host}/s\n"
        b"Sitemap: https://*.a.example/s\nSitemap: https://../s\nSitemap: https://a..b/\n"
        b"Sitemap: https://a.example/s,https://a.example/t\nSitemap: http://[Domain]/\n",
        (1, 2, 3, 4, 5, 6, 7), b"Sitemap: https://a_b.example./s\nSitemap: https://\xd7\x90.example\n"
        b"Sitemap: https://[::1]:80/s\nSitemap: https://1.2.3.4/s,t\n", MODERN),
    Row("RS404", "USE-06", b"License: https://%s/l\nLicense: https://$host/l\n", (1, 2),
        b"License: https://a-b.example:8080/l\n"),
    Row("RS402", "EXT-01", ANY + b"Crawl-delay: -1\nCrawl-delay: 1e3\nCrawl-delay:\n", (2, 3, 4),
        ANY + b"Crawl-delay: 1.5\nCrawl-delay: 0\nCrawl-delay: .5", MODERN),
    Row("RS403", "EXT-01", ANY + b"Crawl-delay: 30.5\nCrawl-delay: " + b"9" * 9999, (2, 3),
        ANY + b"Crawl-delay: 30\n", MODERN),
    Row("RS405", "SIT-01", RULE + b"Sitemap: /x/s.xml\nSitemap: https://a/x/s?b", (3, 4),
        RULE + b"Sitemap: https://a/s.xml\nSitemap: x\n", MODERN),
    Row("RS405", "SIT-01", RULE + b"Sitemap: /x/s.xml", (3,), ANY + b"Disallow: /\nSitemap: /s",
        MODERN),
    Row("RS406", "EXT-01", ANY + b"Crawl-delay: 1\nCrawl-delay: 2\n", (3,),
        ANY + b"Crawl-delay: 1\nCrawl-delay: 1\n", MODERN),
    Row("RS406", "EXT-01", ANY + b"Crawl-delay: 1\nAllow: /\n" + ONE + ANY + b"Crawl-delay: 2\n",
        (6,), ANY + b"Crawl-delay: 1\nAllow: /\n" + ONE + b"Crawl-delay: 2\n", MODERN),
    Row("RS404", "USE-06", b"License: /l.xml\nLicense:\n", (1, 2), b"License: https://a/l.xml\n"),
    Row("RS501", "USE-04", USE + b"a=n; b\nContent-Signal:\nContent-Usage: /a/", (4, 5),
        USE + b"a=n\nContent-Usage: /a/ a=n, b=y;c=d"),
    Row("RS501", "USE-04", USE + b"train-ai: n", (3,), USE + b"*=n, a.b-c_d=y"),
    Row("RS501", "USE-07", SIGNAL + b"ai-train=no;search=yes\nContent-Signal: /a/", (3, 4),
        SIGNAL + b"AI-Train = No\nContent-Signal: /a/ search=YES"),
    Row("RS505", "USE-07", b"Content-Signal: ai-train=No\n" + SIGNAL + b"/a search=yes", (4,),
        b"Content-Signal: ai-train=no\n" + SIGNAL + b"/a Ai-Train=yes"),
    Row("RS502", "USE-04", USE + b"Train-AI=n\nContent-Usage: /A/ SEARCH=y", (3, 4),
        USE + b"a=n\nContent-Usage: /A/ a=y"),
    Row("RS503", "USE-04", USE + b"a=yes\nContent-Usage: a\nContent-Usage: /x a=\"n\"", (3, 4, 5),
        USE + b"a=y;b=yes"),
    Row("RS503", "USE-07", SIGNAL + b"search=y, use=x", (3, 3), SIGNAL + b"search=no, use=full"),
    Row("RS504", "USE-01", USE + b"a/ train-ai=n\nContent-Usage: * search=y", (3, 4),
        USE + b"/a/ train-ai=n"),
    Row("RS505", "USE-01", USE + b"a=n, b=y\nContent-Usage: /a/ a=y\nContent-Usage: /a/b a=n, b=n",
        (4,), USE + b"a=n\nContent-Signal: /a/ search=no\nContent-Usage: /b/ a=y, b=n"),
    Row("RS505", "USE-02", USE + b"/a a=n\n" + ONE + b"Allow:\n" + ANY + b"Content-Usage: /a/ b=n",
        (7,), USE + b"/a a=n\n" + ONE + b"Content-Usage: /a/ b=n\nAllow: /", MODERN),
    Row("RS507", "USE-04", USE + b"genai=n, ai-train=n, tdm=y", (3, 3, 3), USE + b"search=n, x=n"),
    Row("RS507", "USE-07", SIGNAL + b"train-ai=no", (3,), SIGNAL + b"ai-train=no, ai-input=no"),
    Row("RS508", "USE-10", b"User-agent: __usage_AI-training\nDisallow: /a\n", (1,),
        b"User-agent: usage_ai-training\nDisallow: /a\n"),
    Row("RS509", "USE-07", SIGNAL + b"search=no\n" + ONE + b"Allow: /", (3,),
        SIGNAL + b"search=no\n" + ONE + b"Disallow: /\nUser-agent: __usage_ai-training\nAllow: /"),
    Row("RS509", "EXT-01", ONE + b"Disallow: /a\n\nContent-Signal: search=no", (4,),
        ONE + b"Disallow: /a\nContent-Signal: search=no", (*MODERN, "google")),
    Row("RS901", "EXT-04", ANY + b"Disallow: /a\nAllow: /a/b\n", (2,),
        ANY + b"Disallow: /a\nAllow: /ab\nAllow: /c.d\nAllow: /c.d/e"),
    Row("RS902", "EXT-04", ANY + b"Allow: /a/\nAllow: /*\n", (3,), RULE + b"Allow: /"),
    Row("RS902", "EXT-04", ANY + b"Allow: /\nDisallow:\n", (2,), ANY + b"Allow: /\nDisalow: /a\n"),
    Row("RS903", "EXT-04", ANY + b"Disallow:/a/\n", (2,), ANY + b"Disallow: /a:b/\nAllow:\n#a:b"),
]  # fmt: skip
ROWS = [pytest.param(row, id=f"{row.code}-{row.ids}") for row in TABLE]


@pytest.mark.parametrize("row", ROWS)
def test_code_is_reported_at_each_line_that_has_the_fault(row: Row) -> None:
    """The code is found at each of the lines, and nowhere else."""
    for edition in row.editions:
        found = RobotsTxt.parse(row.bad, edition).lint()
        lines = tuple(finding.line for finding in found if finding.code == row.code)
        assert lines == row.lines, (edition, found)


@pytest.mark.parametrize("row", ROWS)
def test_code_is_not_reported_without_the_fault(row: Row) -> None:
    """A similar file without the fault has no finding of the code."""
    for edition in row.editions:
        found = RobotsTxt.parse(row.good, edition).lint()
        assert not [finding for finding in found if finding.code == row.code], edition


@pytest.mark.parametrize("row", ROWS)
def test_message_is_one_sentence_that_names_the_edition(row: Row) -> None:
    """With the line as it is written, and the severity of the code."""
    for edition in row.editions:
        lines = row.bad.removeprefix(b"\xef\xbb\xbf").splitlines()
        for finding in RobotsTxt.parse(row.bad, edition).lint():
            assert finding.severity == CODES[finding.code].severity
            assert finding.message.endswith(".")
            assert finding.message.count(". ") == 0
            assert edition in finding.message
            text = lines[finding.line - 1] if finding.line else b""
            assert finding.text == text.decode("utf-8", "backslashreplace")


def test_every_code_has_a_row() -> None:
    """No code of the linter is untested."""
    assert {row.code for row in TABLE} == set(CODES) - {"RS217"}  # expected of a site alone


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.code)
def test_example_of_a_code_has_the_finding_and_the_better_file_has_not(code: Code) -> None:
    """The better file has no error or warning at all."""
    if code.example is None:
        assert code.code in {"RS104", "RS105", "RS151", "RS153", "RS154", "RS217"}
        return
    edition = code.edition or "google-2019"
    found = RobotsTxt.parse(code.example.encode(), edition).lint()
    better = RobotsTxt.parse(code.better.encode(), edition).lint()
    assert code.code in {finding.code for finding in found}
    assert {finding.severity for finding in better} <= {"advice"}
    assert code.code not in {finding.code for finding in better}


def test_advice_of_the_specifications_is_advice() -> None:
    """EXT-04: RS9xx never count as errors or warnings."""
    assert {code.severity for code in CODES.values() if code.code.startswith("RS9")} == {"advice"}
    assert {code.severity for code in CODES.values()} == {"error", "warning", "advice"}
