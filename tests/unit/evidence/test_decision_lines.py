"""Decision lines: what they say about files that the archive leaves out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.evidence.log_lines import DecisionLines, LoggedDecision, State
from scrapy_robotspec.lookup.rules_cache import RulesCache
from tests.support.evidence import RULES, START, TOKENS, run_settings

SITE = "https://example.com"


def line(path: str, *, is_left_out: bool) -> dict[str, Any]:
    """The line of a decision by a file."""
    origin, policy = Origin.of(SITE), run_settings().policy
    assert origin is not None
    record = RobotsRecord(
        origin, Meaning.RULES, 200, RULES, fetched_at=START, expires_at=START + 60
    )
    found = RulesCache().make(record, policy.plan(record, START), policy.edition, START)
    state = State("state-1", record, START, "record", is_left_out=is_left_out)
    decision = found.decide(SITE + path, TOKENS, START)
    logged = LoggedDecision(1, START, "request", SITE + path, TOKENS, decision, found, state)
    values: dict[str, Any] = json.loads(DecisionLines("google-2019", None)(logged))
    return values


@pytest.mark.parametrize(
    ("path", "is_left_out", "rule"),
    [
        ("/private/", False, "Disallow: /private/"),
        ("/private/", True, "blanked"),
        ("/", False, None),
        ("/", True, None),
    ],
)
def test_a_rule_of_a_file_that_is_left_out_is_blanked(
    path: str, is_left_out: bool, rule: str | None
) -> None:
    """SAF-06: where a rule decided, and nowhere else."""
    assert line(path, is_left_out=is_left_out)["rule"] == rule


def test_a_line_has_the_url_that_servers_read_where_that_decides() -> None:
    """PAT-15."""
    assert line("/a/../private/", is_left_out=False)["resolved"] == f"{SITE}/private/"
    assert "resolved" not in line("/private/", is_left_out=False)


def test_decisions_without_common_grounds_share_no_members() -> None:
    """Requests that need no robots.txt, one after another, may have other tokens."""
    to_line = DecisionLines("google-2019", None)
    tokens = [("a",), ("b",), ()]
    lines = [to_line(LoggedDecision(1, START, "request", SITE, each)) for each in tokens]
    assert [tuple(json.loads(each)["tokens"]) for each in lines] == tokens
