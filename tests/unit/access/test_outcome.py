"""The meaning of one response (FET-02 to FET-18), for every status."""

from __future__ import annotations

import pytest

from scrapy_robotspec.access.outcome import (
    FetchResult,
    Meaning,
    meaning,
)
from scrapy_robotspec.editions import EDITIONS, Edition

RULES, ALLOW, DISALLOW, UNREACHABLE = Meaning

every_edition = pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)


@every_edition
def test_every_status(edition: Edition) -> None:
    """FET-02, FET-07, FET-08, FET-09, FET-10, FET-16."""
    expected = dict.fromkeys(range(1000), UNREACHABLE)
    expected |= dict.fromkeys(range(200, 300), RULES)
    expected |= dict.fromkeys(range(300, 500), ALLOW)
    expected[304] = UNREACHABLE  # nothing made the request conditional
    expected[407] = UNREACHABLE  # only a proxy sends it
    if edition.name == "google":
        expected[429] = UNREACHABLE
    assert {s: meaning(FetchResult(status=s), edition) for s in range(1000)} == expected


@every_edition
@pytest.mark.parametrize(
    "attempt",
    [
        FetchResult(error="DNS lookup failed"),
        FetchResult(status=200, complete=False, body=b"User-agent: *"),
        FetchResult(status=407),
        FetchResult(status=511),
        FetchResult(),
    ],
    ids=["no answer", "incomplete file", "from a proxy", "portal", "nothing"],
)
def test_what_cannot_be_read_is_a_server_error(edition: Edition, attempt: FetchResult) -> None:
    """FET-14."""
    assert meaning(attempt, edition) is UNREACHABLE


@pytest.mark.parametrize(
    ("status", "answered"),
    [(None, False), (407, False), (511, False), (200, True), (404, True), (503, True)],
)
def test_a_proxy_and_a_portal_do_not_answer_for_the_site(
    status: int | None, answered: bool
) -> None:
    """FET-08, FET-14: their responses count as attempts without an answer."""
    assert FetchResult(status=status).answered is answered


@every_edition
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_damaged_4xx_is_still_a_4xx(edition: Edition, status: int) -> None:
    """FET-08: by the status alone."""
    assert meaning(FetchResult(status=status, complete=False), edition) is ALLOW


def test_our_own_cut_is_no_incomplete_body() -> None:
    """FMT-12."""
    attempt = FetchResult(status=200, truncated=True)
    assert meaning(attempt, EDITIONS["google-2019"]) is RULES


@every_edition
@pytest.mark.parametrize("status", [200, 202, 403, 404, 429, 503])
@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("cf-mitigated", "challenge", True),
        ("x-amzn-waf-action", " Captcha", True),
        ("x-amzn-waf-action", "challenge", True),
        ("cf-mitigated", "block", False),
        ("x-amzn-waf-action", "allow", False),
    ],
)
def test_a_named_challenge_is_a_server_error(
    edition: Edition, status: int, field: str, value: str, named: bool
) -> None:
    """FET-20: whatever its status."""
    response = FetchResult(status=status, body=b"User-agent: *", headers={field: value})
    plain = meaning(FetchResult(status=status), edition)
    assert meaning(response, edition) is (UNREACHABLE if named else plain)


def test_the_status_policy_for_404_covers_chains_that_count_as_404() -> None:
    """FET-03: such a chain is a 404 in this too."""
    attempt = FetchResult(status=302, redirect_error="too many redirects")
    assert meaning(attempt, EDITIONS["google-2019"], {404: DISALLOW}) is DISALLOW
    assert meaning(attempt, EDITIONS["google-2019"], {302: DISALLOW}) is ALLOW
