"""How a site's robots.txt was obtained, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec import Origin, RobotsTxt, get_edition
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.render.as_json import full_object
from scrapy_robotspec.render.explanation import Explanation, facts, utc
from tests.unit.render.asking import explain_in_full

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


def facts_of(record: RobotsRecord | None) -> dict[str, str]:
    """The facts about the site of a URL, without those about its crawler."""
    decision = Decision(True, "no_rule", origin=SHOP)
    found = dict(facts(Explanation(f"{SHOP}/a", (), decision, now=NOW, record=record)))
    del found["crawler"]
    return found


def test_a_file_is_described() -> None:
    assert facts_of(replace(RECORD, truncated=True)) == {
        "origin": "http://shop.example",
        "robots.txt": "http://shop.example/robots.txt",
        "status": "200",
        "meaning": "a file: its rules decide",
        "age": "60 s (from the cache), kept for 60 min",
        "size": "27 bytes, cut at the size limit",
    }
    assert list(facts_of(None)) == ["origin", "robots.txt"]


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
    assert facts_of(record)["meaning"] == meaning


def test_redirects_doubts_and_failures_are_named() -> None:
    hop = Hop(f"{SHOP}/robots.txt", 301, "http://www.shop.example/robots.txt")
    doubtful = replace(RECORD, hops=(hop,), doubt="HTML page", body=b"<html>Allow: /")
    found = facts_of(doubtful)
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
    found = facts_of(failed)
    assert found["failure"] == "refused\\x1b"
    assert found["since"] == f"{utc(NOW - 120)} (2 min ago, 2 failures)"
    assert found["meaning"].startswith("unreachable: a crawl waits")


def answer(body: bytes, path: str, *tokens: str) -> Explanation:
    return explain_in_full(RobotsTxt.parse(body), path, *tokens)


def test_long_and_hostile_statements_are_escaped() -> None:
    """SAF-04: and many of them are shown in part."""
    body = b"User-agent: *\n" + b"Content-Usage: /\x1b[31m<b> train-ai=n\n" * 200
    found = list(facts(answer(body, "/a", "foo")))
    assert len(found) < 60
    assert all(text.isprintable() for _, text in found)


def test_a_page_that_may_not_be_fetched_has_no_preference() -> None:
    found = answer(b"User-agent: *\nDisallow: /\nContent-Usage: x=y\n", "/")
    assert full_object(found)["usage"]["applies"] is False
    assert dict(facts(found))["usage"] == "no preference, as the page may not be fetched"


@pytest.mark.parametrize(
    ("lines", "edition", "words"),
    [
        ("Disallow: /a", "rfc9309", "the only rule that matches"),
        (
            "Disallow: /a\nAllow: /a/b\nAllow: /",
            "rfc9309",
            "the longest of 3 rules that match; of equally long ones an allow",
        ),
        ("Disallow:", "google", "a rule without a path disallows nothing"),
    ],
)
def test_the_reason_why_a_rule_wins_is_named(lines: str, edition: str, words: str) -> None:
    """PRE-01, PRE-02; a rule without a path decides in one edition alone."""
    robots = RobotsTxt.parse(f"User-agent: *\n{lines}\n".encode(), get_edition(edition))
    found = explain_in_full(robots, "/a/b")
    assert dict(facts(found))["decided by"] == words
