"""Failures of a robots.txt request: the line that stands for one, and whose it is."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from twisted.internet.error import ConnectBindError, ConnectError, ConnectionLost, DNSLookupError
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError
from twisted.web.client import ResponseFailed

from scrapy_robotspec.lookup.loop_time import InterruptionError, TimeLimitError
from scrapy_robotspec.plugin.fetching.failures import in_one_line, is_local


def failed(*reasons: Exception) -> Exception:
    """Twisted's exception for *reasons*."""
    failures: Any = [Failure(reason) for reason in reasons]  # type: ignore[no-untyped-call]
    return ResponseFailed(failures)  # type: ignore[no-untyped-call]


def caused_by(error: Exception, cause: Exception) -> Exception:
    """*error* as Scrapy raises it from *cause*."""
    error.__cause__ = cause
    return error


LOST = failed(ConnectionLost(), ValueError("second"))
UNREADABLE = ParseError("status", b"\xff")  # type: ignore[no-untyped-call]
PARSED = failed(UNREADABLE)
ODD = failed(RuntimeError("first"))
CLOSED = "connection closed before the response was complete"
NO_NETWORK = OSError(errno.ENETUNREACH, "")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\nlines  of text"), "ValueError: two lines of text"),
        (ValueError(), "ValueError"),
        (ValueError("\x1b[31m\u202e"), r"ValueError: \x1b[31m\u202e"),
        (LOST, CLOSED),
        (caused_by(OSError(str(LOST)), LOST), CLOSED),
        (failed(ValueError("first")), "invalid HTTP response"),
        (failed(KeyError(b"coding")), "invalid HTTP response"),
        (caused_by(OSError(str(PARSED)), PARSED), "invalid HTTP response"),
        (caused_by(OSError(str(ODD)), ODD), "OSError: first"),
        (failed(), "ResponseFailed: []"),
        (OSError(errno.ECONNREFUSED, "refused"), "connection refused"),
        (OSError("[SSL: WRONG_VERSION_NUMBER] wrong"), "TLS failed (https on an http port?)"),
    ],
)
def test_a_failure_in_one_line(error: Exception, line: str) -> None:
    """SAF-04: no object of Twisted's, no second line, nothing unprintable."""
    assert in_one_line(error) == line


@pytest.mark.parametrize(
    ("error", "local"),
    [
        (NO_NETWORK, True),
        (OSError(errno.EMFILE, ""), True),
        (caused_by(RuntimeError("connection failed"), NO_NETWORK), True),
        (failed(NO_NETWORK), True),
        (ConnectError(errno.ENETUNREACH), True),  # type: ignore[no-untyped-call]
        (ConnectBindError("full"), True),  # type: ignore[no-untyped-call]
        (IgnoreRequest("no"), True),
        (InterruptionError(), True),
        (OSError(errno.ECONNREFUSED, ""), False),
        (OSError(errno.ECONNRESET, ""), False),
        (TimeLimitError(), False),
    ],
    ids=repr,
)
def test_failures_of_this_machine_are_local(error: Exception, local: bool) -> None:
    """Also behind another exception, as download handlers raise them."""
    assert is_local(error, resolves=True) == is_local(error, resolves=False) == local


def test_an_unknown_name_is_local_where_no_name_is_resolved() -> None:
    assert is_local(DNSLookupError("x"), resolves=False)
    assert not is_local(DNSLookupError("x"), resolves=True)


@pytest.mark.parametrize("padding", ["", "x" * 170])
def test_the_words_of_an_error_contain_no_password(padding: str) -> None:
    """SAF-06: they are stored, archived and shown; cutting them hides no user info."""
    error = OSError(f"{padding} no way to http://jane:secret@proxy.example:8080")
    words = in_one_line(error)
    assert "secret" not in words
    assert "//blanked" in words


class Middleware:
    """A middleware whose hook raises."""

    def process_request(self, error: Exception) -> None:
        self.help(error)

    def help(self, error: Exception) -> None:
        raise error


class Manager(Middleware):
    """Scrapy's object that calls the hooks of middlewares has methods of their names."""


Manager.__module__ = "scrapy.core.downloader.middleware"


def process_request(error: Exception) -> None:
    """A function with the name of a hook."""
    raise error


@pytest.mark.parametrize(
    ("call", "error", "line"),
    [
        (Middleware().process_request, ValueError("no"), "raised in Middleware: ValueError: no"),
        (
            Middleware().process_request,
            IgnoreRequest("no"),
            "dropped by Middleware: IgnoreRequest: no",
        ),
        (Middleware().help, ValueError("no"), "ValueError: no"),
        (Manager().process_request, ValueError("no"), "ValueError: no"),
        (process_request, ValueError("no"), "ValueError: no"),
    ],
)
def test_the_middleware_that_is_to_blame_is_named(call: Any, error: Exception, line: str) -> None:
    """Its hook is in the traceback."""
    with pytest.raises(type(error)) as raised:
        call(error)
    assert in_one_line(raised.value) == line


def test_errors_that_cause_each_other_end() -> None:
    first, second = ValueError("first"), OSError(errno.ENETUNREACH, "second")
    first.__cause__, second.__context__ = second, first
    assert in_one_line(first) == "ValueError: first"
    assert is_local(first, resolves=True)
