"""Exceptions of refused requests: Scrapy's IgnoreRequest, with the whole decision."""

from __future__ import annotations

import pickle

import pytest
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots, ForbiddenUsage, refusal
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import UsageStatement

ORIGIN = Origin("http", "example.com", 80)
BY_LINE_7 = "Content-Signal: /a ai-train=no"
STATEMENT = UsageStatement("content-signal", "ai-train=no", "/a", 7)


def forbidden(line: bytes = b"Disallow: /private") -> Decision:
    robots = RobotsTxt.parse(b"User-agent: *\n" + line)
    verdict = robots.explain("http://example.com/private", "foobot")
    return Decision(False, verdict.reason, verdict, "successful", 200, 1.0, (), ORIGIN)


def unreachable(failure: str | None) -> Decision:
    return Decision(False, "unreachable", origin=ORIGIN, failure=failure)


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (forbidden(), "Forbidden by robots.txt (line 2: 'Disallow: /private')"),
        (
            forbidden("Disallow: /priv*\x1b[31m*\u202e\nDisallow: /p".encode()),
            "Forbidden by robots.txt (line 3: 'Disallow: /p')",
        ),
        (
            Decision(False, "override", origin=ORIGIN),
            "Forbidden by robots.txt (ROBOTSPEC_OVERRIDES)",
        ),
        (
            Decision(False, "policy", status=403, origin=ORIGIN),
            "Forbidden by robots.txt (HTTP status 403, ROBOTSPEC_STATUS_POLICY)",
        ),
        (
            Decision(False, "usage", origin=ORIGIN, usage=UsageRefusal("train-ai", STATEMENT)),
            f"Forbidden by robots.txt (train-ai is disallowed by line 7: {BY_LINE_7!r})",
        ),
        (unreachable("HTTP status 503"), "robots.txt unreachable (HTTP status 503)"),
        (unreachable("evil \x1b[31m\u202e"), "robots.txt unreachable (evil \\x1b[31m\\u202e)"),
        (unreachable(None), "robots.txt unreachable"),
    ],
)
def test_a_refusal_says_what_decided(decision: Decision, text: str) -> None:
    """EXT-02, SAF-04, USE-05: in one short line, also after pickling."""
    raised = refusal(decision)
    assert isinstance(raised, IgnoreRequest)
    for error in (raised, pickle.loads(pickle.dumps(raised))):
        assert (type(error), error.decision, str(error)) == (type(raised), decision, text)
        assert repr(error) == f"{type(raised).__name__}({text!r}, origin='http://example.com')"
    if isinstance(raised, ForbiddenUsage):
        assert isinstance(raised, ForbiddenByRobots)
        usage = raised.decision.usage
        assert usage is not None
        assert (usage.label, usage.statement, usage.line) == ("train-ai", STATEMENT, 7)
