"""Which crawlers of a log keep to a robots.txt."""

from __future__ import annotations

import pytest

from scrapy_robotspec.evidence import visitors
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.visitors import VisitorAudit, crawler_names
from scrapy_robotspec.protocol.models import Rule
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

FILE = b"""User-agent: *
Disallow: /all

User-agent: examplebot
Disallow: /cart/
Crawl-delay: 10

User-agent: examplebot-image
Disallow: /
"""
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("user_agent", "names"),
    [
        ("examplebot/1.0 (+https://bot.example/)", ("examplebot",)),
        ("examplebot", ("examplebot",)),
        (
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            ("Googlebot",),
        ),
        (
            f"Mozilla/5.0 {CHROME} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            ("Googlebot",),
        ),
        (
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
                "+https://openai.com/gptbot)"
            ),
            ("GPTBot",),
        ),
        (
            (
                f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) {CHROME} "
                "(Applebot/0.1; +http://www.apple.com/go/applebot)"
            ),
            ("Applebot",),
        ),
        (
            "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
            ("archive.org_bot",),
        ),
        ("a bot https://bot.example/", ("a bot",)),
        ("Googlebot-Image/1.0", ("Googlebot-Image",)),
        ("AdsBot-Google (+http://www.google.com/adsbot.html)", ("AdsBot-Google",)),
        ("meta-externalagent/1.1 (+https://bot.example/)", ("meta-externalagent",)),
        ("curl/8.5.0", ("curl",)),
        ("python-requests/2.31.0", ("python-requests",)),
        ("Scrapy/2.19.0 (+https://scrapy.org)", ("Scrapy",)),
        ("examplebot/1.0 otherbot/2.0", ("examplebot", "otherbot")),
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}", ()),
        ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0", ()),
        ("Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)", ()),
        ("", ()),
        (" ", ()),
    ],
)
def test_names_of_crawlers(user_agent: str, names: tuple[str, ...]) -> None:
    assert crawler_names(user_agent) == names


def audited(*lines: tuple[float, str, str | None], only: tuple[str, ...] = ()) -> VisitorAudit:
    """An audit of requests: time, path, User-Agent."""
    audit = VisitorAudit(RobotsTxt.parse(FILE), only)
    for time, path, agent in lines:
        url = f"https://shop.example{path}"
        audit.add(Request(time, 1.0, True, url, agent), url)
    return audit


def test_each_crawler_is_judged_by_its_own_group() -> None:
    audit = audited(
        (0, "/cart/1", "examplebot/1.0"),
        (1, "/cart/2", "ExampleBot/2.0"),
        (2, "/all", "examplebot/1.0"),
        (3, "/cart/1", "otherbot/1.0"),
        (4, "/all", "otherbot/1.0"),
        (5, "/cart/1", "examplebot-image/1.0"),
        (6, "/x", "examplebot-video/1.0"),
        (7, "/cart/1", "otherbot/1.0 examplebot/1.0"),
        (8, "/all", f"Mozilla/5.0 (X11; Linux x86_64) {CHROME}"),
        (9, "/all", ""),
        (10, "/robots.txt", "examplebot-image/1.0"),
    )
    found = {each.name: (each.group, each.disallowed) for each in audit.visitors.values()}
    assert found == {
        "examplebot": (("examplebot",), 2),
        "otherbot": (("*",), 1),
        "examplebot-image": (("examplebot-image",), 1),
        "examplebot-video": (("examplebot",), 0),
    }
    assert (audit.requests, audit.browsers, audit.without_agent, audit.disallowed) == (11, 1, 1, 4)
    broken = audit.visitors["examplebot"].broken
    assert broken == {
        Rule("disallow", "/cart/", 5, "Disallow: /cart/"): (2, "https://shop.example/cart/1")
    }


def test_the_most_specific_group_that_a_user_agent_leads_to() -> None:
    audit = audited((0, "/cart/1", "otherbot/1.0 examplebot/1.0"))
    (crawler,) = audit.visitors.values()
    assert (crawler.name, crawler.tokens, crawler.disallowed) == ("otherbot", ("examplebot",), 1)


def test_requests_for_robots_txt_are_counted_with_what_relied_on_them() -> None:
    audit = audited(
        (0, "/a", "examplebot/1.0"),
        (100, "/robots.txt", "examplebot/1.0"),
        (400, "/a", "examplebot/1.0"),
        (500, "/robots.txt?x", "examplebot/1.0"),
        (510, "/a", "examplebot/1.0"),
    )
    (crawler,) = audit.visitors.values()
    assert (crawler.robots_txt, crawler.before, crawler.oldest_copy) == (2, 1, 300)


@pytest.mark.parametrize(
    ("times", "too_early", "shortest"),
    [
        ((0, 10, 20), 0, 10),
        ((0, 9, 18), 0, 9),  # whole seconds: it may have been 10
        ((0, 8, 20), 1, 8),
        ((0, 20, 19), 1, 1),  # logged when it was answered
        ((0,), 0, None),
    ],
)
def test_a_crawl_delay_is_broken_by_gaps_that_no_rounding_explains(
    times: tuple[float, ...], too_early: int, shortest: float | None
) -> None:
    audit = audited(*((each, "/a", "examplebot/1.0") for each in times))
    (crawler,) = audit.visitors.values()
    assert (crawler.crawl_delay, crawler.too_early, crawler.shortest) == (10.0, too_early, shortest)


def test_one_crawler_alone() -> None:
    lines = [(0.0, "/cart/1", "examplebot/1.0"), (1.0, "/all", "otherbot/1.0")]
    assert [*audited(*lines, only=("examplebot",)).visitors] == ["examplebot"]
    audit = audited((0, "/cart/1", None), only=("examplebot",))
    assert audit.disallowed == 1  # of a log of one crawler


def test_any_number_of_names_takes_a_bounded_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-05: anyone can send any User-Agent."""
    monkeypatch.setattr(visitors, "MAX_CRAWLERS", 10)
    monkeypatch.setattr(visitors, "_MAX_BROKEN", 5)
    audit = audited(*((n, "/all", f"bot{chr(97 + n)}/1.0") for n in range(26)))
    assert len(audit.visitors) == 11
    others = audit.visitors[visitors.OTHERS]
    assert (others.requests, others.disallowed, audit.disallowed) == (16, 16, 26)
    assert sum(len(each.broken) for each in audit.visitors.values()) == 5
