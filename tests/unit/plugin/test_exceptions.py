"""Exceptions of refused requests: Scrapy's IgnoreRequest, with the whole decision."""

from __future__ import annotations

import pickle

import pytest
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.plugin.exceptions import (
    ForbiddenByRobots,
    ForbiddenUsage,
    RobotsUnreachable,
    refusal,
)
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import UsageStatement

ORIGIN = Origin("http", "example.com", 80)


def forbidden(line: bytes = b"Disallow: /private") -> Decision:
    robots = RobotsTxt.parse(b"User-agent: *\n" + line)
    verdict = robots.explain("http://example.com/private", "foobot")
    assert not verdict.allowed
    return Decision(False, verdict.reason, verdict, "successful", 200, 1.0, (), ORIGIN)


def test_a_refusal_shows_the_line_that_decided() -> None:
    raised = ForbiddenByRobots(forbidden())
    assert isinstance(raised, IgnoreRequest)
    for error in (raised, pickle.loads(pickle.dumps(raised))):
        assert (type(error), error.decision) == (ForbiddenByRobots, forbidden())
        assert str(error) == "Forbidden by robots.txt (line 2: 'Disallow: /private')"
    assert (raised.verdict, raised.origin) == (raised.decision.verdict, ORIGIN)


def test_the_repr_is_one_short_line() -> None:
    """Tracebacks and item pipelines print it; the decision has all the rest."""
    assert repr(ForbiddenByRobots(forbidden())) == (
        "ForbiddenByRobots(\"Forbidden by robots.txt (line 2: 'Disallow: /private')\", "
        "origin='http://example.com')"
    )
    down = RobotsUnreachable(Decision(False, "unreachable", origin=ORIGIN, failure="x\n\x1b[1m"))
    assert repr(down).isprintable()
    nowhere = RobotsUnreachable(Decision(allowed=False, reason="unreachable", failure="x"))
    assert repr(nowhere) == "RobotsUnreachable('robots.txt unreachable (x)', origin='None')"


def test_without_a_rule_the_setting_is_shown() -> None:
    raised = ForbiddenByRobots(Decision(False, "override", origin=ORIGIN))
    assert str(raised) == "Forbidden by robots.txt (ROBOTSPEC_OVERRIDES)"
    raised = ForbiddenByRobots(Decision(False, "policy", status=403, origin=ORIGIN))
    assert str(raised) == "Forbidden by robots.txt (HTTP status 403, ROBOTSPEC_STATUS_POLICY)"


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
    raised = refusal(Decision(False, "unreachable", origin=ORIGIN, failure=failure))
    assert type(raised) is RobotsUnreachable
    assert isinstance(raised, IgnoreRequest)
    assert str(raised) == f"robots.txt unreachable{words}"


def test_a_file_cannot_steer_the_terminal() -> None:
    """SAF-04."""
    decision = forbidden("Disallow: /priv*\x1b[31m*\u202e".encode() + b"\nDisallow: /p")
    text = str(ForbiddenByRobots(decision))
    assert text.isprintable()


def test_refusal_by_usage_shows_label_and_statement() -> None:
    """USE-05: it is caught as ForbiddenByRobots and survives pickling."""
    statement = UsageStatement("content-signal", "ai-train=no", "/a", 7)
    decision = Decision(False, "usage", origin=ORIGIN, usage=UsageRefusal("train-ai", statement))
    raised = refusal(decision)
    for error in (raised, pickle.loads(pickle.dumps(raised))):
        assert isinstance(error, ForbiddenUsage)
        assert isinstance(error, ForbiddenByRobots)
        assert (error.label, error.statement, error.line) == ("train-ai", statement, 7)
        assert str(error) == (
            "Forbidden by robots.txt (train-ai is disallowed by line 7: "
            "'Content-Signal: /a ai-train=no')"
        )
