"""Lines: what a user-agent line names, and lines that need no check."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Slashless
from scrapy_robotspec.protocol.lint import line_checks
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Each edition, and two whose stars are ordinary or may not stand first.
READ = [
    *EDITIONS.values(),
    replace(EDITIONS["classic"], name="stars first", slashless=Slashless.PATTERN),
    replace(EDITIONS["google"], name="slash first", slashless=Slashless.NEVER),
]
parts = ["/", "/", "a", "b1", "A", ".", "..", "*", "$", "~", "_", "-", "=", "?", "&", "&amp;"]
more = [
    "%41",
    "%2e",
    "%2f",
    "%",
    "@",
    "+",
    "#",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "\\",
    "[",
    "é",
    "\x7f",
    "\0",
    "none",
    "x" * 20,
]
paths = st.lists(st.one_of(*[st.sampled_from(parts)] * 4, st.sampled_from(more)), max_size=7)
fields = st.sampled_from(
    ["Disallow: ", "Allow: ", "disallow:  ", "DISALLOW: ", "Disallow:", "allow:\t"]
)
agents = st.sampled_from(["User-agent: a", "user-agent: *", "User-Agent: b # c", "# c", "#d:e", ""])
others = st.sampled_from(["Sitemap: https://h/s", "sitemap: /s", "Sitemap: https://h/a b"])
#: Nothing, byte order marks, whole and in part, and a line end.
MARKS = ["", "", "\xef\xbb\xbf", "\xef\xbb", "\xef", "\n"]
lines = st.one_of(st.builds("{}{}".format, fields, paths.map("".join)), agents, others)


@pytest.mark.parametrize(
    ("value", "read"), [("* all", "every crawler"), ("Foo 1.0", '"Foo"'), ("MJ12bot", '"MJ"')]
)
def test_message_says_which_name_is_read(value: str, read: str) -> None:
    """UAG-03, UAG-09: the part of the value that counts."""
    found = RobotsTxt.parse(f"User-agent: {value}\nDisallow: /a/\n".encode()).lint()
    assert [finding.message.endswith(f"reads {read}.") for finding in found] == [True]


def test_crawler_that_a_list_leaves_out_is_named() -> None:
    """GRP-10: erratum 8895 of RFC 9309."""
    (finding,) = RobotsTxt.parse(b"User-agent: GPTBot, CCBot\nDisallow: /\n").lint()
    assert finding.code == "RS203"
    assert '"CCBot" does not follow the group' in finding.message
    listed = b"User-agent: GPTBot, CCBot\nUser-agent: CCBot\nDisallow: /\n"
    assert "CCBot" not in RobotsTxt.parse(listed).lint()[0].message


@pytest.mark.parametrize("edition", READ, ids=lambda edition: edition.name)
@given(begin=st.sampled_from(MARKS), found=st.lists(lines, max_size=6))
@example("", ["Disallow: /.*", "Allow: /./", "Disallow: /a.*", "Allow: //", "Disallow: //*"])
@example("", ["Allow: *", "Allow: **a*", "Disallow: /a/*$", "Allow: /%", "Allow: /;", "Allow: //a"])
@example("", ["Disallow: /$a", "Disallow: /a#b", "Disallow: /a Allow: /", "User-agent: a Allow: /"])
@example(
    "", ["Allow: /:a", "Allow: /a:b", "Allow: /%2E/", "Allow: /%7ea", "Allow: /a* ", "Allow: .+"]
)
@example("", ["Disallow: /" + "x" * 20_000, "Sitemap: https://h/ Allow: /"])
@example(
    "", ["Disallow: /./a", "Disallow: /.a", "Disallow: *.a", "Disallow: */.a", "Allow: /a*/./$"]
)
@example("\xef\xbb", ["Disallow: /a", "Disallow: /a"])
def test_lines_and_paths_that_are_passed_over_need_no_check(
    edition: Edition, begin: str, found: list[str]
) -> None:
    """The findings are those of looking at each line and each path."""
    body = begin.encode("latin-1") + "\n".join(["User-agent: *", *found]).encode()
    robots = RobotsTxt.parse(body, edition)
    passed_over = robots.lint()
    with patch.object(line_checks, "usual_line", lambda _: re.compile(rb"(?!)")):
        assert robots.lint() == passed_over


def test_a_long_line_is_not_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: the time that a run of combining characters takes grows with its square."""
    normalize, lengths = unicodedata.normalize, []

    def counted(form: Literal["NFKC"], text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counted)
    path = "a" + "\u0301\u0327" * 10_000
    body = f"User-agent: *\nDisallow: /{path}\n{path}: /\nDisallow\uff1a /{path}\n".encode()
    codes = {(each.line, each.code) for each in RobotsTxt.parse(body).lint()}
    assert {(3, "RS103"), (4, "RS109")} <= codes
    assert max(lengths) < 100
