"""The account of a crawl without a report: few counts, however many origins there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.plugin.reporting import crawl_account
from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount, cut, deciding_line
from scrapy_robotspec.protocol.usage import UsageStatement
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, RULES, SHOP


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


CART = RULES.explain("/cart/", ())
NOT_CART = RULES.explain("/", ())
LINE, STATED = (2, "Disallow: /cart/"), UsageStatement("content-usage", "train-ai=n")


@pytest.mark.parametrize(
    ("given", "line", "counted"),
    [
        ({"reason": "rule", "verdict": CART}, (*LINE, "/cart/"), True),
        ({"reason": "rule", "verdict": CART, "origin": None}, (*LINE, "/cart/"), False),
        ({"reason": "override", "verdict": NOT_CART}, (None, None, None), False),
        ({"reason": "unreachable"}, (None, None, None), False),
        ({"usage": UsageRefusal("train-ai")}, (None, None, None), False),
        ({"usage": UsageRefusal("train-ai", STATED)}, (None, "Content-Usage: train-ai=n", None), 0),
        (
            {"usage": UsageRefusal("train-ai", replace(STATED, line=3)), "verdict": NOT_CART},
            (3, "Content-Usage: train-ai=n", None),
            True,
        ),
    ],
)
def test_a_refusal_by_a_line_of_a_file_is_counted_for_the_line(
    given: dict[str, Any], line: tuple[int | None, str | None, str | None], counted: bool
) -> None:
    """Not one by a header."""
    decision, account = (
        Decision(False, **{"reason": "usage", "origin": SHOP, **given}),
        CrawlAccount(),
    )
    account.refused(decision, "http://x/")
    assert deciding_line(decision) == line
    assert account.rules == ({(SHOP, *line[:2]): 1} if counted else {})


@pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 199 + "…")])
def test_a_long_text_is_cut(length: int, shown: str) -> None:
    assert cut("x" * length) == shown


def test_the_rarest_rules_are_dropped_above_twice_the_number_that_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crawl_account, "RULES_COUNTED", 2)
    account, numbers = CrawlAccount(), []
    for number in range(5):
        origin = Origin("http", f"h{number}.example", 80)
        account.refused(Decision(False, "rule", CART, origin=origin), "http://x/")
        numbers.append(len(account.rules))
    assert numbers == [1, 2, 3, 4, 2]


@pytest.mark.parametrize(
    ("known", "added", "remembered"),
    [([], SHOP, True), ([SHOP], SHOP, True), ([SHOP], DOWN, False)],
)
def test_origins_are_remembered_up_to_a_number(
    monkeypatch: pytest.MonkeyPatch, known: list[Origin], added: Origin, remembered: bool
) -> None:
    """Those remembered have the latest value."""
    monkeypatch.setattr(crawl_account, "ORIGINS_COUNTED", 1)
    account = CrawlAccount()
    for delay, origin in enumerate([*known, added]):
        account.overridden(Override(replacement="ignore"), origin)
        account.delay_not_kept(origin, delay)
        fetched(account, replace(FAILED, origin=origin, failure=f"failure {delay}"))
    latest = len(known)
    assert (added in account.replaced) is remembered
    assert (account.delays_not_kept.get(added) == latest) is remembered
    assert (account.down.get(added) == f"failure {latest}") is remembered
    assert len(account.replaced) == len(account.delays_not_kept) == len(account.down) == 1
    fetched(account, replace(FOUND, origin=added), FAILED)
    assert added not in account.down
    assert account.answers == Counter({"unreachable": len(known), "with rules": 1})


@pytest.mark.parametrize(
    ("given", "counted"), [({"replacement": "ignore"}, True), ({"token": ("x",)}, False)]
)
def test_an_origin_whose_file_stays_is_not_counted_as_replaced(
    given: dict[str, Any], counted: bool
) -> None:
    account = CrawlAccount()
    account.overridden(Override(**given), SHOP)
    assert account.replaced == ({SHOP} if counted else set())


def fetched(
    account: CrawlAccount, record: RobotsRecord, before: RobotsRecord | None = None
) -> None:
    """A fetch turned *before* into *record*."""
    account.fetched(FetchDone(Pending(record.origin, 0.0), record, before, None, 0.0), 0, 0.0)
