"""How a site's robots.txt was obtained, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec import Origin
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.render.site import SiteAnswer, site_facts, utc

SHOP = Origin("http", "shop.example", 80)
NOW = 1_800_000_000.0
RECORD = RobotsRecord(
    SHOP,
    Meaning.RULES,
    200,
    b"User-agent: *\nDisallow: /a\n",
    fetched_at=NOW - 60,
    expires_at=NOW + 3540,
)


def facts(record: RobotsRecord | None) -> dict[str, str]:
    decision = Decision(True, "no_rule", origin=SHOP)
    site = SiteAnswer(f"{SHOP}/a", 0.1, NOW, decision=decision, record=record)
    return dict(site_facts(site))


def test_a_file_is_described() -> None:
    assert facts(replace(RECORD, truncated=True)) == {
        "origin": "http://shop.example",
        "robots.txt": "http://shop.example/robots.txt",
        "status": "200",
        "meaning": "a file: its rules decide",
        "age": "60 s (from the cache), kept for 60 min",
        "size": "27 bytes, cut at the size limit",
    }
    assert list(facts(None)) == ["origin", "robots.txt"]


@pytest.mark.parametrize(
    ("record", "meaning"),
    [
        (replace(RECORD, body=b""), "a file without rules: everything is allowed"),
        (
            replace(RECORD, meaning=Meaning.ALLOW, status=404),
            "the site has no file: everything is allowed",
        ),
        (
            replace(RECORD, meaning=Meaning.ALLOW, status=403),
            "HTTP status 403: everything is allowed",
        ),
        (
            replace(RECORD, meaning=Meaning.ALLOW, status=301, redirect_error="loop"),
            "HTTP status 301, loop: everything is allowed",
        ),
        (
            replace(RECORD, meaning=Meaning.DISALLOW, status=403),
            "refused by ROBOTSPEC_STATUS_POLICY: nothing is allowed",
        ),
    ],
    ids=str,
)
def test_each_meaning_has_a_sentence(record: RobotsRecord, meaning: str) -> None:
    assert facts(record)["meaning"] == meaning


def test_redirects_doubts_and_failures_are_named() -> None:
    hop = Hop(f"{SHOP}/robots.txt", 301, "http://www.shop.example/robots.txt")
    doubtful = replace(RECORD, hops=(hop,), doubt="HTML page", body=b"<html>Allow: /")
    found = facts(doubtful)
    assert found["redirect"] == f"301 from {hop.url} to {hop.target}"
    assert found["doubt"] == "no robots.txt: HTML page"
    assert found["age"].endswith("because it is in doubt")
    failed = RobotsRecord(
        SHOP,
        unreachable_since=NOW - 120,
        failed_at=NOW - 60,
        next_attempt=NOW,
        failures=2,
        failure="refused\x1b",
    )
    found = facts(failed)
    assert found["failure"] == "refused\\x1b"
    assert found["since"] == f"{utc(NOW - 120)} (2 min ago, 2 failures)"
    assert found["meaning"].startswith("unreachable: a crawl waits")
