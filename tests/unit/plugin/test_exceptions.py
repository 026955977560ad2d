"""What a refused request raises: Scrapy's IgnoreRequest, with the whole decision."""

from __future__ import annotations

import pickle

import pytest
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots, RobotsUnreachable
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

ORIGIN = Origin("http", "example.com", 80)


def forbidden(line: bytes = b"Disallow: /private") -> Decision:
    robots = RobotsTxt.parse(b"User-agent: *\n" + line)
    verdict = robots.explain("http://example.com/private", "foobot")
    assert not verdict.allowed
    return Decision(False, verdict.reason, verdict, "successful", 200, 1.0, (), ORIGIN)


def test_a_refusal_shows_the_line_that_decided() -> None:
    refusal = ForbiddenByRobots(forbidden())
    assert isinstance(refusal, IgnoreRequest)
    assert str(refusal) == "Forbidden by robots.txt (line 2: 'Disallow: /private')"
    assert refusal.verdict is not None
    assert refusal.verdict.rule is not None
    assert refusal.verdict.rule.line == 2
    assert refusal.origin == ORIGIN
    assert refusal.decision.status == 200


def test_without_a_rule_the_reason_is_shown() -> None:
    refusal = ForbiddenByRobots(Decision(False, "policy", origin=ORIGIN))
    assert str(refusal) == "Forbidden by robots.txt (policy)"
    assert refusal.verdict is None


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("HTTP status 503", " (HTTP status 503)"),
        ("timeout", " (timeout)"),
        ("evil \x1b[31m\u202e", " (evil \\x1b[31m\\u202e)"),
        (None, ""),
    ],
)
def test_an_unreachable_robots_txt_names_the_cause(failure: str | None, words: str) -> None:
    """EXT-02, SAF-04."""
    refusal = RobotsUnreachable(Decision(False, "unreachable", origin=ORIGIN, failure=failure))
    assert isinstance(refusal, IgnoreRequest)
    assert str(refusal) == f"robots.txt unreachable{words}"
    assert refusal.origin == ORIGIN


def test_a_file_cannot_steer_the_terminal() -> None:
    """SAF-04."""
    decision = forbidden("Disallow: /priv*\x1b[31m*\u202e".encode() + b"\nDisallow: /p")
    text = str(ForbiddenByRobots(decision))
    assert text.isprintable()


@pytest.mark.parametrize("kind", [ForbiddenByRobots, RobotsUnreachable])
def test_a_refusal_survives_pickling(kind: type[ForbiddenByRobots]) -> None:
    refusal = kind(forbidden())
    again = pickle.loads(pickle.dumps(refusal))
    assert type(again) is kind
    assert again.decision == refusal.decision
    assert str(again) == str(refusal)
