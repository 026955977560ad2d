"""The line that stands for a failure in logs, reports and records."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from twisted.internet.error import ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.fetching.attempt import TimeLimitError
from scrapy_robotspec.plugin.fetching.failures import in_one_line, is_local
from scrapy_robotspec.plugin.fetching.routes import Routes

FAILURES: list[Any] = [Failure(error) for error in (ConnectionLost(), ValueError("second"))]  # type: ignore[no-untyped-call]
LOST = ResponseFailed(FAILURES)  # type: ignore[no-untyped-call]
EMPTY = ResponseFailed([])  # type: ignore[no-untyped-call]


def caused_by(error: Exception, cause: Exception) -> Exception:
    """*error* as Scrapy raises it from *cause*."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\nlines  of text"), "ValueError: two lines of text"),
        (ValueError(), "ValueError"),
        (None, "NoneType: None"),
        (ValueError("\x1b[31m\u202e"), r"ValueError: \x1b[31m\u202e"),
        (
            LOST,
            "connection closed before the response was complete",
        ),
        (
            caused_by(OSError(str(LOST)), LOST),
            "connection closed before the response was complete",
        ),
        (EMPTY, "ResponseFailed: []"),
        (OSError(errno.ECONNREFUSED, "refused"), "connection refused"),
        (OSError("[SSL: WRONG_VERSION_NUMBER] wrong"), "TLS failed (https on an http port?)"),
    ],
)
def test_a_failure_in_one_line(error: Exception | None, line: str) -> None:
    """The words of a person: no object of Twisted's, no second line, nothing unprintable."""
    assert in_one_line(error) == line


@pytest.mark.parametrize(
    ("error", "local"),
    [(IgnoreRequest(), True), (TimeLimitError(), False)],
)
def test_a_request_dropped_on_this_side_says_nothing_of_the_origin(
    error: Exception, local: bool
) -> None:
    assert is_local(error, None, Routes((), LiveOrigins()), 1_800_000_000.0) == local
