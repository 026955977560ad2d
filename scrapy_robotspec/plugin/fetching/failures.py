"""Failures of a robots.txt request: the origin's or the route's.

A dead proxy, a missing network or a name server that does not answer says nothing about the
origin. Such a failure must not reach other processes through a shared store.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest, NotSupported

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Errors of this machine: no network, no free file or port, a firewall, a wrong local address.
_LOCAL_ERRNOS = frozenset(
    getattr(errno, name)
    for name in [
        "EACCES",
        "EADDRINUSE",
        "EADDRNOTAVAIL",
        "EHOSTUNREACH",
        "EMFILE",
        "ENETDOWN",
        "ENETUNREACH",
        "ENFILE",
        "ENOBUFS",
        "ENOMEM",
        "EPERM",
    ]
    if hasattr(errno, name)
)
#: Names of exceptions for errors of this machine that may hide the number: Twisted's, curl's.
_LOCAL_ERRORS = ("ConnectBindError", "NoRouteError", "InterfaceError")
#: Names of exceptions for an unknown host name: Scrapy's, Twisted's, curl's, aiohttp's.
_NAME_ERRORS = (
    "CannotResolveHostError",
    "DNSLookupError",
    "DNSError",
    "ClientConnectorDNSError",
)
#: Names of exceptions -> what went wrong, in words.
_WORDS = {
    **dict.fromkeys(_NAME_ERRORS, "host name not found"),
    **dict.fromkeys(("TimeoutError", "DownloadTimeoutError"), "no answer in time"),
    "ConnectionRefusedError": "connection refused",
    "ConnectionResetError": "connection reset",
    "ConnectionLost": "connection closed before the response was complete",
    "ConnectionDone": "connection closed before the response was complete",
}
#: Parts of TLS errors where the other side does not use TLS.
_NOT_TLS = ("wrong version number", "http request", "packet length too long", "record layer")


def is_local(error: BaseException, *, resolves: bool) -> bool:
    """Whether *error* may say nothing about the origin.

    *resolves*: the names of other hosts are resolved.
    """
    if isinstance(error, IgnoreRequest | NotSupported):  # dropped on this side
        return True
    causes = list(_causes(error))
    if any(_errno(cause) in _LOCAL_ERRNOS for cause in causes):
        return True
    if any(type(cause).__name__ in _LOCAL_ERRORS for cause in causes):
        return True
    return not resolves and any(type(cause).__name__ in _NAME_ERRORS for cause in causes)


def in_one_line(error: BaseException) -> str:
    """Plain words for *error*, or its type and escaped text (SAF-04)."""
    for cause in _causes(error):
        known = _in_words(cause)
        if known is not None:
            return known
    words = " ".join(str(_reason(error)).split())[:200]
    kind = type(error).__name__
    text = f"{kind}: {words}" if words else kind
    return ascii(text)[1:-1]


def _in_words(cause: BaseException) -> str | None:
    text = str(cause).lower().replace("_", " ")
    if any(part in text for part in _NOT_TLS):
        return "TLS failed (https on an http port?)"
    if "certificate verify failed" in text:
        return "TLS failed: certificate not valid"
    number = _errno(cause)
    if number == errno.ECONNREFUSED:
        return "connection refused"
    return _WORDS.get(type(cause).__name__)


def _reason(error: BaseException) -> BaseException:
    """The first reason of Twisted's ResponseFailed, which prints them as objects, else *error*."""
    for cause in _causes(error):
        for reason in getattr(cause, "reasons", None) or ():
            return reason.value  # type: ignore[no-any-return]
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """*error* and the exceptions behind it, each once."""
    pending, seen = [error], set()
    while pending:
        cause = pending.pop()
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        reasons = getattr(cause, "reasons", None)  # Twisted's ResponseFailed holds failures
        behind = [getattr(reason, "value", reason) for reason in reasons or ()]
        behind += [cause.__cause__, cause.__context__, getattr(cause, "os_error", None)]
        pending += [each for each in behind if isinstance(each, BaseException)]


def _errno(error: BaseException) -> object:
    """The number that the operating system gave; Twisted has it under a name of its own."""
    return getattr(error, "errno", None) or getattr(error, "osError", None)
