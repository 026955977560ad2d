"""The report as JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from scrapy_robotspec.access.outcome import Hop
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats, report_lines


def test_every_key_of_an_origin() -> None:
    """Times are in UTC, to the millisecond; durations in seconds."""
    origin = OriginStats(
        "https://shop.example",
        let_through=2,
        refused=1,
        waited=2,
        asked=2,
        failed=1,
        seconds=0.25049,
        answer="rules",
        status=200,
        hops=1,
        bytes=26,
        usage={"train-ai": Counter(disallow=2)},
        redirects=(Hop("https://shop.example/robots.txt", 301, "https://www.shop.example/r"),),
        failures=Counter({"HTTP status 503": 1}),
        first_asked=1_700_000_000.1234,
        answered=1_700_000_001.0,
        wait_began=1_700_000_000.1234,
        wait_seconds=0.8766001,
        refused_by=[RefusalStats("rule", 2, "Disallow: /cart/", "/cart/", 1, ["https://a/cart/"])],
        overrides=Counter(token=3),
        crawl_delay=2.5,
    )
    (line,) = report_lines([origin])
    assert line.endswith("}\n")
    expected: dict[str, Any] = {
        "origin": "https://shop.example",
        "let_through": 2,
        "refused": 1,
        "waited": 2,
        "given_up": 0,
        "asked": 2,
        "failed": 1,
        "seconds": 0.25,
        "answer": "rules",
        "status": 200,
        "failure": None,
        "hops": 1,
        "bytes": 26,
        "usage": {"train-ai": {"disallow": 2}},
        "truncated": False,
        "doubt": None,
        "redirects": [
            {
                "url": "https://shop.example/robots.txt",
                "status": 301,
                "target": "https://www.shop.example/r",
            }
        ],
        "failures": {"HTTP status 503": 1},
        "first_asked": "2023-11-14T22:13:20.123Z",
        "answered": "2023-11-14T22:13:21.000Z",
        "wait_began": "2023-11-14T22:13:20.123Z",
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
        "overrides": {"token": 3},
        "crawl_delay": 2.5,
        "delay_not_kept": None,
    }
    assert json.loads(line) == expected
    assert list(json.loads(line)) == list(expected)


def test_a_rule_cannot_steer_a_terminal() -> None:
    """Printable ASCII, and one line for each origin (SAF-04)."""
    hostile = "Disallow: /\x1b[31m\n\u2028\u202e\udc80"
    origin = OriginStats("http://a.example", refused_by=[RefusalStats("rule", 1, hostile)])
    (line,) = report_lines([origin])
    assert line.rstrip("\n").isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line)["refused_by"][0]["rule"] == hostile
