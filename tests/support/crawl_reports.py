"""Reports of crawls that never were: small, large and hostile ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scrapy_robotspec.access.account import RequestCounts, WaitEnd
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from scrapy_robotspec.render.report_page import report_page

START = 1_800_000_000.0

#: Text of a stranger with markup, control characters and bidi marks.
HOSTILE_TEXT = "/\"><img src=x onerror=alert(2)></td></table>&amp;\u202e\x1b[31m\x00\udc80'"


def counts(**outcomes: int) -> RequestCounts:
    """Requests by outcome, all sent that were let through."""
    requests = RequestCounts(Counter(outcomes))
    requests.sent = requests.not_sent
    return requests


def with_rules(number: int, text: str = "") -> OriginStats:
    """An origin with refusals by three lines."""
    origin = f"https://shop-{number}.example"
    lines = [f"Disallow: /{line}{text}" for line in (2, 3, 4)]
    return OriginStats(
        origin,
        requests=counts(rules=50, refused_rule=30),
        asked=2,
        answer="rules",
        status=200,
        first_asked=START + number % 100,
        answered=START + number % 100 + 12,
        wait_began=START + number % 100,
        wait_seconds=12.0,
        waited=40,
        failed=1,
        wait_end=WaitEnd("answered", 2, f"HTTP status 503{text}"),
        words="with rules",
        refused_by=[
            RefusalStats("rule", at, line, line, 10, [f"{origin}/{at}/{n}{text}" for n in range(3)])
            for at, line in enumerate(lines, 2)
        ],
    )


def without_rules(number: int, text: str = "") -> OriginStats:
    """Origins without a file, unreachable, pending, and overridden."""
    origin = f"http://other-{number}.example"
    kind = number % 4
    if kind == 0:
        return OriginStats(
            origin,
            counts(unavailable=7),
            asked=1,
            answer="allow",
            status=403,
            doubt=f"HTTP status 403{text}",
        )
    if kind == 1:
        return OriginStats(
            origin,
            counts(refused_unreachable=5),
            asked=3,
            answer="unreachable",
            failure=f"timeout{text}",
            wait_began=START + 1,
            wait_seconds=90.0,
            words="unreachable",
            wait_end=WaitEnd("given_up", 3, f"timeout{text}"),
            refused_by=[RefusalStats("unreachable", count=5, examples=[f"{origin}/{text}"])],
        )
    if kind == 2:
        return OriginStats(origin, first_asked=START + 60, pending_since=START + 60)
    return OriginStats(
        origin,
        counts(refused_override=2),
        refused_by=[RefusalStats("override", count=2, examples=[f"{origin}/x"])],
        overrides=Counter(disallow=2),
    )


def origins_of(number: int, text: str = "") -> list[OriginStats]:
    """Origins with a stranger's *text* wherever possible."""
    return [(with_rules if n % 2 else without_rules)(n // 2, text) for n in range(number)]


#: A file with two groups, and the delay of the first.
FILE = b"""User-agent: *
Disallow: /private/
Crawl-delay: 2
Disallow: /*?*sort=

User-agent: badbot
Disallow: /
"""

#: Values for the page of a crawl of 90 seconds, besides the origins.
SHOWN = {
    "now": START + 90,
    "started": START,
    "slow": 5.0,
    "tokens": ("examplebot",),
    "token": "examplebot (ROBOTSPEC_USER_AGENT_TOKEN)",
    "spider": "shop",
    "edition": "google-2019",
    "store": "memory://",
    "keeps_delays": False,
    "overridden": "",
    "finished": "finished",
    "is_cut": False,
    "differences": None,
}


def one_site() -> OriginStats:
    """The only site of a crawl."""
    site = "https://shop.example"
    rules = {2: ("Disallow: /private/", 11), 4: ("Disallow: /*?*sort=", 2)}
    return OriginStats(
        site,
        counts(rules=22, dont_obey_robotstxt=10, refused_rule=13),
        asked=1,
        answer="rules",
        status=200,
        first_asked=START,
        answered=START + 1,
        refused_by=[
            RefusalStats(
                "rule", at, text, text, number, [f"{site}/{at}/{n}" for n in range(number)][:10]
            )
            for at, (text, number) in rules.items()
        ],
        delay_not_kept=2.0,
        words="with rules",
        file=RobotsTxt.parse(FILE),
    )


def page_of(origins: Sequence[OriginStats], **other: Any) -> str:
    """The page of a crawl, with *other* values than those of :data:`SHOWN`."""
    values: dict[str, Any] = {**SHOWN, **other}
    return report_page(origins, **values)
