"""The account of a crawl without a report: few counts, however many origins there are."""

from __future__ import annotations

from dataclasses import replace

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
from tests.unit.plugin.reporting.records import FOUND, RULES


def test_origins_are_counted_together() -> None:
    """A crawl of a million sites takes a few kilobytes for its counts."""
    account = CrawlAccount()
    for number in range(1000):
        origin = Origin("http", f"h{number}.example", 80)
        account.wait_began(origin, 1000.0)
        done = FetchDone(Pending(origin, 0.0), replace(FOUND, origin=origin), None, None, 1000.0)
        account.fetched(done, 1, 1001.0)
        account.wait_ended(origin, 1000.0, 1001.0)
        account.requests_of(origin).by_outcome["rules"] += 1
        account.kept(origin).sent += 1
        decision = Decision(False, "rule", RULES.explain("/cart/", ()), origin=origin)
        account.refused(decision, f"{origin}/cart/")
    assert account.answers == {"with rules": 1000}
    assert account.requests().by_outcome == {"rules": 1000, "refused_rule": 1000}
    assert account.requests().sent == 1000
    assert not account.down
