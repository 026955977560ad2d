"""Decisions: what users see of all this (EXT-02)."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.resolved import Resolved
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

from .simulation import DAY, DEAD, DOWN, FILE, MISSING, ORIGIN, START, Life, policy

URL = "http://example.com/private/x"
FILE_URL = "http://example.com/robots.txt"
#: An edition whose copy stands in from the first failure on.
STALE = {"base": "google-2019", "stale_after": 0}


def resolved(life: Life) -> Resolved:
    """The lookup's result for the record after asking once."""
    plan = life.ask()
    return RulesCache().make(life.held, plan, life.policy.edition, life.now)


def decision(life: Life, url: str = URL) -> Decision:
    """The decision about *url* after asking once."""
    return resolved(life).decide(url, ["mybot"], life.now)


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (MISSING, (True, "unavailable", "unavailable", 404, None)),
        (
            FetchResult(status=302, redirect_error="loop"),
            (True, "unavailable", "unavailable", 302, "loop"),
        ),
        (FetchResult(status=451), (False, "policy", "unavailable", 451, None)),
        (DOWN, (False, "unreachable", "unreachable", 503, "HTTP status 503")),
        (DEAD, (False, "unreachable", "unreachable", None, "DNS lookup failed")),
    ],
)
def test_decisions_without_rules(attempt: FetchResult, expected: tuple[object, ...]) -> None:
    """FET-08, FET-09, FET-10, FET-14."""
    life = Life(policy(status_policy={451: Meaning.DISALLOW}), lambda now: attempt)
    found = decision(life)
    assert found.verdict is None
    assert (found.allowed, found.reason, found.outcome, found.status, found.failure) == expected


def test_a_copy_that_stands_in_says_so() -> None:
    """FET-13, CAC-02: the rules decide, status and age are the copy's, the failure is named."""
    life = Life(policy(STALE), lambda now: FILE if now == START else DOWN)
    life.ask()
    life.now += 2 * DAY
    found = decision(life)
    assert (found.allowed, found.reason, found.outcome) == (False, "rule", "unreachable")
    assert (found.status, found.age) == (200, 2 * DAY)
    assert found.detail.endswith("; the latest request for robots.txt failed (HTTP status 503).")


def test_a_failed_refresh_of_a_fresh_copy_is_no_news() -> None:
    """CAC-02: the copy's own outcome stands as long as it is fresh."""
    life = Life(policy(), lambda now: FILE if now == START else DOWN)
    life.ask()
    life.now += 0.9 * DAY
    assert decision(life).outcome == "successful"


def test_a_clock_put_back_yields_no_negative_age() -> None:
    """Times come from outside."""
    life = Life(policy(), lambda now: MISSING)
    life.ask()
    life.now -= 30
    assert decision(life).age == 0


# --- one sentence for a person

ALLOWED_BY = "mybot\nAllow: /private/x\nDisallow: /private\n"


def rules(line: str) -> FetchResult:
    return FetchResult(status=200, body=f"User-agent: {line}".encode())


@pytest.mark.parametrize(
    ("result", "path", "sentence"),
    [
        (FILE, "private/x", "Disallowed by FILE (line 2: 'Disallow: /private')."),
        (rules(ALLOWED_BY), "private/x", "Allowed by FILE (line 2: 'Allow: /private/x')."),
        (FILE, "x", "Allowed: no rule of FILE matches the URL."),
        (rules("x\nDisallow: /"), "x", "Allowed: no group of FILE is for this crawler."),
        (FILE, "robots.txt", "Allowed: FILE itself is never disallowed."),
        (MISSING, "x", "Allowed: there is no FILE (HTTP status 404)."),
        (FetchResult(status=403), "x", "Allowed: FILE responds with HTTP status 403."),
        (
            FetchResult(status=302, redirect_error="loop"),
            "x",
            "Allowed: FILE responds with HTTP status 302, loop.",
        ),
        (DOWN, "x", "Disallowed: FILE is unreachable (HTTP status 503)."),
        (
            FetchResult(status=451),
            "x",
            "Disallowed by the status policy: FILE responds with HTTP status 451.",
        ),
    ],
    ids=str,
)
def test_detail_says_why_in_one_sentence(result: FetchResult, path: str, sentence: str) -> None:
    life = Life(policy(status_policy={451: Meaning.DISALLOW}), lambda now: result)
    wanted = sentence.replace("FILE", FILE_URL)
    assert decision(life, f"http://example.com/{path}").detail == wanted


RULE = RobotsTxt.parse(b"User-agent: *\nDisallow: /").explain(URL, "mybot")


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Decision(True, "override"), "Allowed by ROBOTSPEC_OVERRIDES."),
        (
            Decision(False, "override", RULE),
            "Disallowed by ROBOTSPEC_OVERRIDES (line 2: 'Disallow: /').",
        ),
        (Decision(True, "no_rule"), "Allowed: a URL of this scheme has no robots.txt."),
        (Decision(True, "unreachable"), "Allowed: robots.txt is unreachable (no answer)."),
        (
            Decision(True, "limit_passed", origin=ORIGIN, failure="HTTP status 500"),
            f"Allowed: {FILE_URL} has been unreachable for too long (HTTP status 500).",
        ),
        (
            Decision(False, "usage", usage=UsageRefusal("train-ai")),
            "Disallowed: train-ai is unknown: no statement allows it.",
        ),
    ],
    ids=str,
)
def test_detail_of_decisions_without_a_record(found: Decision, sentence: str) -> None:
    assert found.detail == sentence


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\u202e", "é", "{status}"])
def test_detail_never_steers_a_terminal(text: str) -> None:
    """SAF-04: neither a failure from a shared store nor a line of the file."""
    body = f"User-agent: *\nDisallow: /private{text}".encode()
    verdict = RobotsTxt.parse(body).explain(f"{URL}?", "mybot")
    for found in (
        Decision(False, "unreachable", failure=text),
        Decision(False, "rule", verdict, origin=ORIGIN),
    ):
        assert found.detail.isascii()
        assert found.detail.isprintable()
