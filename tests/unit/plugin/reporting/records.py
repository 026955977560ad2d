"""Records that the counts of a crawl are tested with."""

from __future__ import annotations

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

SHOP = Origin("https", "shop.example", 443)
DOWN = Origin("http", "down.example", 8080)
RULES = RobotsTxt.parse(b"User-agent: *\nDisallow: /cart/\nDisallow: /list\n")
HOP = Hop("https://shop.example/robots.txt", 301, "https://www.shop.example/robots.txt")
FOUND = RobotsRecord(
    SHOP,
    meaning=Meaning.RULES,
    status=200,
    body=RULES.body,
    truncated=True,
    hops=(HOP,),
    fetched_at=1000.0,
    expires_at=2000.0,
)
FAILED = RobotsRecord(
    DOWN,
    unreachable_since=1000.0,
    failed_at=1000.0,
    failures=1,
    failure="refused",
    failure_status=503,
)
