"""The report as JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from typing import Any

from scrapy_robotspec.access.outcome import Hop
from scrapy_robotspec.access.reasons import OUTCOMES
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats, report_lines
from tests.support.command_line import validator
from tests.support.crawl_reports import counts


def test_the_keys_of_an_origin() -> None:
    """Those of its fields. Times are in UTC, to the millisecond; durations in seconds."""
    given: dict[str, Any] = {
        "origin": "https://shop.example",
        "status": 200,
        "usage": {"train-ai": Counter(disallow=2)},
        "failures": Counter({"HTTP status 503": 1}),
        "crawl_delay": 2.5,
    }
    origin = OriginStats(
        **given,
        requests=counts(rules=2, refused_rule=1, dont_obey_robotstxt=3),
        seconds=0.25049,
        redirects=(Hop("https://shop.example/robots.txt", 301, "https://www.shop.example/r"),),
        first_asked=1_700_000_000.1234,
        answered=1_700_000_001.0,
        wait_seconds=0.8766001,
        refused_by=[RefusalStats("rule", 2, "Disallow: /cart/", "/cart/", 1, ["https://a/cart/"])],
    )
    (line,) = report_lines([origin])
    assert line.endswith("}\n")
    found = json.loads(line)
    validator("report").validate(found)
    names = [field.name for field in fields(OriginStats)][2:-2]
    names.remove("outlook")
    expected_keys = ["origin", "let_through", "refused", "outcomes", *names, "next_attempt"]
    assert list(found) == expected_keys
    outcomes = dict.fromkeys(OUTCOMES, 0) | {
        "after_sending": 0,
        "answered_by_middleware": 0,
        "not_sent": 0,
    }
    assert found["outcomes"] == {
        **outcomes,
        "rules": 2,
        "refused_rule": 1,
        "dont_obey_robotstxt": 3,
    }
    expected: dict[str, Any] = {
        **given,
        "let_through": 2,
        "refused": 1,
        "seconds": 0.25,
        "redirects": [
            {
                "url": "https://shop.example/robots.txt",
                "status": 301,
                "target": "https://www.shop.example/r",
            }
        ],
        "first_asked": "2023-11-14T22:13:20.123Z",
        "answered": "2023-11-14T22:13:21.000Z",
        "wait_seconds": 0.877,
        "pending_since": None,
        "refused_by": [
            {
                "reason": "rule",
                "line": 2,
                "rule": "Disallow: /cart/",
                "pattern": "/cart/",
                "count": 1,
                "examples": ["https://a/cart/"],
            }
        ],
    }
    assert {name: found[name] for name in expected} == expected


class Busy(Counter[str]):
    """Counts to which a crawl adds while a thread reads them."""

    def items(self) -> Any:
        for each in super().items():
            self[f"number {len(self)}"] = 1
            yield each


def test_a_crawl_may_go_on_counting_while_sums_are_made() -> None:
    total = OriginStats("")
    for _ in range(2):  # the second time there is something to add to
        origin = OriginStats("http://a.example", counts(rules=2))
        origin.requests.by_outcome = Busy(rules=2)
        origin.overrides = Busy(token=1)
        origin.usage["search"] = Busy(allow=3)
        total.include(origin)
    assert (total.requests.by_outcome, total.overrides) == ({"rules": 4}, {"token": 2})
    assert total.usage == {"search": {"allow": 6}}


def test_a_rule_cannot_steer_a_terminal() -> None:
    """Printable ASCII, and one line for each origin (SAF-04)."""
    hostile = "Disallow: /\x1b[31m\n\u2028\u202e\udc80"
    origin = OriginStats("http://a.example", refused_by=[RefusalStats("rule", 1, hostile)])
    (line,) = report_lines([origin])
    assert line.rstrip("\n").isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line)["refused_by"][0]["rule"] == hostile
