"""FET-20: responses that may be none of the site's live an hour."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.editions import EDITIONS

from .simulation import DAY, FILE, HOUR, ORIGIN, START, Life, policy

PAGE = b"<!doctype html><title>Just a moment...</title>"
DOUBTFUL = {
    "HTML page": FetchResult(status=200, body=PAGE),
    "other text": FetchResult(status=200, body=b"Too many requests"),
    "JSON": FetchResult(status=200, body=b'{"error": 404}'),
    "UTF-16 text": FetchResult(status=200, body="User-agent: *".encode("utf-16")),
    "HTTP status 202": FetchResult(status=202),
    "HTTP status 403": FetchResult(status=403, body=PAGE),
    "HTTP status 451": FetchResult(status=451),
}
CERTAIN = [
    FILE,
    FetchResult(status=200),
    FetchResult(status=204),
    FetchResult(status=200, body=b"# nothing yet"),
    FetchResult(status=202, body=b"Disalow: /x"),
    FetchResult(status=200, body=PAGE + b"\n" + FILE.body),
    FetchResult(status=202, body=FILE.body),
    FetchResult(status=404, body=PAGE),
    FetchResult(status=410),
    FetchResult(status=302, redirect_error="loop"),
]
every_edition = pytest.mark.parametrize("edition", EDITIONS)


@every_edition
@pytest.mark.parametrize("response", CERTAIN)
def test_other_responses_live_a_day(edition: str, response: FetchResult) -> None:
    """CAC-01, CAC-06."""
    record = policy(edition).apply(None, ORIGIN, response, START, 0)
    assert (record.doubt, record.expires_at) == (None, START + DAY)


def test_the_lifetime_is_a_setting_and_shorter_ones_count() -> None:
    """ROBOTSPEC_CACHE_DOUBTFUL_TTL; CAC-03."""
    page = DOUBTFUL["HTML page"]
    assert policy(doubtful_ttl=60).apply(None, ORIGIN, page, START, 0).expires_at == START + 60
    short = FetchResult(status=200, body=PAGE, headers={"cache-control": "max-age=600"})
    assert policy().apply(None, ORIGIN, short, START, 0).expires_at == START + 600


@pytest.mark.parametrize("name", DOUBTFUL)
def test_the_lifetime_is_doubled_while_the_response_stays_the_same(name: str) -> None:
    """FET-20: up to CAC-01's lifetime; another response begins anew."""
    rules, now, record = policy(), START, None
    lifetimes = []
    for response in [DOUBTFUL[name]] * 7 + [FetchResult(status=418), DOUBTFUL[name]]:
        record = rules.apply(record, ORIGIN, response, now, 0)
        assert record.expires_at is not None
        lifetimes.append((record.expires_at - now) / HOUR)
        now = record.expires_at
    assert lifetimes == [1, 2, 4, 8, 16, 24, 24, 1, 1]


def test_a_challenge_leaves_the_copy_and_requests_wait() -> None:
    """FET-20: handled like a 5xx, with the name of the field in the record."""
    challenge = FetchResult(status=403, body=PAGE, headers={"cf-mitigated": "challenge"})
    life = Life(policy(), lambda now: FILE if life.attempts[2:] else challenge)
    assert life.live(10, every=0.5) == [(0, "wait"), (3, "rules")]
    failed = policy().apply(None, ORIGIN, challenge, START, 0)
    assert failed.failure == "HTTP status 403, a challenge (cf-mitigated)"


@pytest.mark.parametrize("status", [200, 403, 503])
def test_a_status_policy_is_named_in_the_failure(status: int) -> None:
    """FET-09: "incomplete response" only where bytes are missing."""
    rules = policy(status_policy={200: Meaning.UNREACHABLE, "4xx": Meaning.UNREACHABLE})
    failed = rules.apply(None, ORIGIN, FetchResult(status=status, body=b"x"), START, 0)
    assert failed.failure is not None
    assert failed.failure.startswith(f"HTTP status {status}")
