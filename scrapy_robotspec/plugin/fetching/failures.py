"""Failures of a robots.txt request: the origin's or the route's.

A dead proxy, a missing network or a name server that does not answer says nothing about the
origin. Such a failure must not reach other processes through a shared store.
"""

from __future__ import annotations

import errno

from scrapy.exceptions import IgnoreRequest, NotSupported

from scrapy_robotspec.lookup.loop_time import InterruptionError

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
_LOCAL_ERRORS = {"ConnectBindError", "NoRouteError", "InterfaceError"}
#: Names of exceptions for an unknown host name: Scrapy's, Twisted's, curl's, aiohttp's.
_NAME_ERRORS = {
    "CannotResolveHostError",
    "DNSLookupError",
    "DNSError",
    "ClientConnectorDNSError",
}
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
    if isinstance(error, IgnoreRequest | NotSupported | InterruptionError):  # dropped on this side
        return True
    causes = _causes(error)
    names = {type(cause).__name__ for cause in causes}
    if not _LOCAL_ERRNOS.isdisjoint(map(_errno, causes)) or names & _LOCAL_ERRORS:
        return True
    return not resolves and bool(names & _NAME_ERRORS)


def in_one_line(error: BaseException) -> str:
    """Plain words for *error*, or its type and escaped text (SAF-04)."""
    causes = _causes(error)
    for cause in causes:
        known = _in_words(cause)
        if known is not None:
            return known
    # Twisted's ResponseFailed prints its reasons as objects.
    innermost = next((cause for cause in causes if not hasattr(cause, "reasons")), error)
    words = " ".join(str(innermost).split())[:200]
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


def _causes(error: BaseException) -> list[BaseException]:
    """*error* and the exceptions behind it, each once."""
    causes = [error]
    for cause in causes:
        reasons = getattr(cause, "reasons", None)  # Twisted's ResponseFailed holds failures
        behind = [getattr(reason, "value", reason) for reason in reasons or ()]
        behind += [cause.__cause__, cause.__context__, getattr(cause, "os_error", None)]
        for each in behind:
            if isinstance(each, BaseException) and each not in causes:
                causes.append(each)
    return causes


def _errno(error: BaseException) -> object:
    """The number that the operating system gave; Twisted has it under a name of its own."""
    return getattr(error, "errno", None) or getattr(error, "osError", None)
