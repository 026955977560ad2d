"""UAG-11, PAT-11: hostile tokens and wildcards. What grew too fast would not come to an end."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)


@in_every_edition
@pytest.mark.parametrize(
    ("token", "found"),
    [("", None), ("\0", None), ("\ud800", None), ("é" * 100, None), ("12", None), ("a b", "a"),
     ("MJ12bot", "MJ"), ("FooBot/1.0", "FooBot"), (" FooBot", "FooBot"), ("FooBot\n", "FooBot"),
     ("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "AhrefsBot")],
)  # fmt: skip
def test_token_without_a_possible_group_is_an_error(
    edition: str, token: str, found: str | None
) -> None:
    """UAG-11: never a silent miss; the message names the group's name."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\n", edition)
    asks = (robots.explain, robots.allowed, robots.matches)
    if edition in ("google", "classic"):
        assert not robots.allowed("http://example.com/", token)
        assert robots.other(token) == ()
        return
    remedy = f"its group is found under '{found}'" if found else "letters, '-' and '_'$"
    for tokens in (token, (token,), ["FooBot", token]):
        for ask in asks:
            with pytest.raises(ValueError, match=remedy):
                ask("http://example.com/", tokens)
        for read in (robots.other, robots.crawl_delay):
            with pytest.raises(ValueError, match=remedy):
                read(tokens)


@in_every_edition
@pytest.mark.parametrize(
    ("pattern", "path"),
    [("/" + "*a" * 500 + "$", "/" + "a" * 5000 + "b"), ("/" + "a*" * 500 + "c", "/" + "a" * 5000),
     ("/" + "*" * 5000 + "x", "/" + "y" * 5000), ("/*" + "a" * 1000 + "b", "/" + "a" * 100_000),
     ("/" + "*ab" * 300 + "*c$", "/" + "ab" * 5000)],
    ids=range(5),
)  # fmt: skip
def test_wildcards_that_invite_backtracking(edition: str, pattern: str, path: str) -> None:
    """PAT-11: no pattern and no URL makes matching explode, and the verdict is still right."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n".encode(), edition)
    assert robots.allowed(f"http://example.com{path}", "FooBot")


@in_every_edition
def test_a_file_full_of_such_wildcards(edition: str) -> None:
    """PAT-11, SAF-02: thousands of them in one file."""
    rules = b"".join(b"Disallow: /%s*c%d\n" % (b"*a" * 20, number) for number in range(8000))
    robots = RobotsTxt.parse(b"User-agent: *\n" + rules, edition)
    assert robots.allowed("http://example.com/" + "a" * 1500, "FooBot")
