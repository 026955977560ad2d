"""Explanations: paths, and pages that are refused for their usage preferences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from scrapy_robotspec import EDITIONS, Origin, RobotsTxt
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.render.as_json import full_object
from scrapy_robotspec.render.as_text import explained, short
from scrapy_robotspec.render.explanation import Explanation, explain, in_full
from scrapy_robotspec.render.parsed_file import ParsedFile
from tests.unit.render.asking import explain_in_full

URL = "http://shop.example/a"
ROBOTS = RobotsTxt.parse(b"User-agent: *\nAllow: /\nContent-Usage: /a train-ai=n\n")


def refused() -> Explanation:
    """A page that the rules allow and the policy refuses."""
    refusal = UsagePolicy(("train-ai",), "refuse-disallowed").refusal(
        ROBOTS.usage(URL, "foo"), final=False
    )
    decision = Decision(
        allowed=False,
        reason="usage",
        verdict=ROBOTS.explain(URL, "foo"),
        origin=Origin.of(URL),
        usage=refusal,
    )
    return Explanation(URL, ("foo",), decision, seconds=0.1, robots=ROBOTS)


def test_statement_decides_and_no_rule_does() -> None:
    """USE-05: an Allow rule that matches is not shown as the reason of a refusal."""
    found = in_full(refused(), ParsedFile(ROBOTS))
    detail = "train-ai is disallowed by line 3: 'Content-Usage: /a train-ai=n'"
    assert (found.allowed, found.reason, found.detail) == (False, "usage", detail)
    assert short(found, "") == f"disallowed  {URL}  ({detail})"
    lines = "\n".join(explained(found))
    assert f"decided by {detail}" in lines
    assert "loses      line 2: Allow: /" in lines
    assert "usage      train-ai disallowed" in lines
    shown = full_object(found)
    assert (shown["allowed"], shown["reason"]) == (False, "usage")
    assert shown["usage"]["preferences"] == {"train-ai": "disallow"}


@pytest.mark.parametrize("edition", [name for name in EDITIONS if name != "google"])
def test_the_compared_path_is_shown_as_in_a_url(edition: str) -> None:
    """Not by the control characters that stand for literal signs inside the package."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /x\n", edition)
    url = "http://example.com/50%/a$b*%2a%7e"
    shown = "/50%/a%24b%2A%2A~"
    assert explain_in_full(robots, url, "FooBot").path == shown


def test_matches_begin_with_the_rule_that_decides() -> None:
    """PRE-01: the longest of all groups of the crawler; PAT-15: also without dot segments."""
    groups = b"User-agent: foo\nDisallow: /a\nAllow: /a/b\nUser-agent: foo\nDisallow: /*b\n"
    robots = RobotsTxt.parse(groups + b"Disallow: /c\n")
    for path, lines in (("/a/b", [3, 5, 2]), ("/x/../c", [6])):
        found = explain_in_full(robots, path, "foo")
        assert [rule.line for rule in found.matches] == lines
        assert found.rule == found.matches[0]


READ = [
    (b"Disallow: /a", "/a", "google-2019", ""),
    (b"Disallow: /a # b", "/a", "google-2019", " (read as /a)"),
    (b"Disallow: /a#b", "/a", "google-2019", " (read as /a)"),
    (b"Disallow: /#b", "/a", "google-2019", " (read as /)"),
    (b"disallow:/%7ea", "/~a", "google-2019", " (read as /~a)"),
    (b"disallow:/%c3x", "/%C3x", "classic", " (read as /%C3x)"),
    (b"Disallow: /\xc3\xbc", "/\xfc", "google-2019", " (read as /%C3%BC)"),
    (b"Disallow: /\xfc", "/%FC", "google-2019", ""),
    (b"Disallow /a", "/a", "google", " (read as /a)"),
    (b"Disallow: /" + b"a" * 20_000, "/" + "a" * 20_000, "google", " (read as /aaa"),
]


@pytest.mark.parametrize(("line", "path", "edition", "words"), READ)
def test_a_rule_is_shown_as_it_is_read(line: bytes, path: str, edition: str, words: str) -> None:
    """Where that differs from the line; in one line, all of an explanation, and as data."""
    robots = RobotsTxt.parse(b"User-agent: *\n" + line + b"\nAllow: /%7e # x\n", edition)
    found = explain_in_full(robots, path, "FooBot")
    assert found.allowed is False
    shown = short(found, "")
    assert words in shown if words else "read as" not in shown
    assert words in next(text for text in explained(found) if " decides" in text)
    assert full_object(found)["read_as"] == full_object(found)["matches"][0]["read_as"]
    if words.endswith(")"):
        assert full_object(found)["read_as"] == words[len(" (read as ") : -1]


#: Each rule shows how a URL with a question mark, parameters or an empty path is compared.
MARKS = RobotsTxt.parse(
    b"User-agent: *\nDisallow: /*?\nDisallow: /a$\nDisallow: /*;$\nDisallow: /b"
)
_rests = st.lists(st.sampled_from(["a", "b", "?", "?", ";", "#", "/", "=1"]), max_size=6)


@given(_rests.map("".join))
def test_a_url_is_judged_as_a_crawl_sends_it(rest: str) -> None:
    """PAT-13: ``/page?`` is requested as ``/page``; a file shows no such URL otherwise."""
    url = f"http://shop.example/{rest}"
    sent = MARKS.explain_served(Request(url).url, "foo")
    found = in_full(explain(ParsedFile(MARKS), url, ("foo",)), ParsedFile(MARKS))
    assert found.verdict == sent
    assert found.url == url
    assert found.matches == MARKS.matches(sent.resolved or Request(url).url, "foo")
    if not rest.startswith("/"):  # else a host would follow
        assert explain(ParsedFile(MARKS), f"/{rest}", ("foo",)).allowed == sent.allowed
