"""Explanations and file summaries as lines for a terminal."""

from __future__ import annotations

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.render.as_text import explained, file_lines, short
from scrapy_robotspec.render.explanation import Explanation, explain
from scrapy_robotspec.render.parsed_file import ParsedFile

FILE = ParsedFile(
    RobotsTxt.parse(
        b"User-agent: Foo\nUser-agent: bar\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 2\n"
        b"Sitemap: http://shop.example/s.xml\n"
    )
)


def test_an_answer_is_one_line() -> None:
    """The decision first, text from outside last; also without a decision."""
    assert short(explain(FILE, "/a", ("foo",)), "") == "disallowed  /a  (line 3: Disallow: /a)"
    assert short(explain(FILE, "/c", ("foo",)), "FILE  ") == (
        "allowed     FILE  /c  (no rule of the group matches)"
    )
    other = Explanation("http://b.example/")
    assert short(other, "") == "not covered http://b.example/  (the robots.txt of another origin)"


def test_a_problem_is_all_that_is_explained() -> None:
    found = Explanation("http://b.example/", problem="no such host", seconds=0.1)
    assert list(explained(found)) == ["http://b.example/", "  problem    no such host"]


def test_the_groups_of_a_file_are_listed() -> None:
    assert list(file_lines("a", FILE, []))[1:] == [
        "  line  allow  disallow  user agents",
        "  1     1      1         Foo, bar",
        "  sitemap    http://shop.example/s.xml",
    ]
    assert list(file_lines("a", ParsedFile(RobotsTxt.parse(b"")), [])) == [
        "a: 0 bytes, 0 groups, 0 rules, 0 sitemaps, edition google-2019"
    ]


def test_a_list_of_groups_shows_a_name_as_it_is_read() -> None:
    """A list of names on one line is one name, and not two crawlers (UAG-03)."""
    lines = b"User-agent: GPTBot, CCBot\nUser-agent: AI2Bot\nUser-agent: *\nDisallow: /\n"
    *_, row = file_lines("a", ParsedFile(RobotsTxt.parse(lines)), [])
    names = row.partition("1         ")[2]
    assert names == "GPTBot, CCBot (read as GPTBot), AI2Bot (read as AI), *"


def test_a_crawler_without_rules_may_fetch_everything() -> None:
    shown = list(file_lines("a", FILE, [("baz",)]))
    assert "  rules      none, so everything is allowed" in shown
    shown = list(file_lines("a", FILE, [("foo",)]))
    assert "  rule       line 3: Disallow: /a" in shown
    assert "  also       line 5: crawl-delay: 2" in shown
