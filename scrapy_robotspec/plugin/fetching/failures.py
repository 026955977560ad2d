"""Failures of a robots.txt request: the origin's or the route's.

A dead proxy, a missing network or a name server that does not answer says nothing about the
origin. Such a failure must not reach other processes through a shared store.
"""

from __future__ import annotations

from errno import errorcode
from traceback import walk_tb
from typing import Any

from scrapy.exceptions import IgnoreRequest, NotSupported

from scrapy_robotspec.access.outcome import blank_user_info
from scrapy_robotspec.access.reasons import rows
from scrapy_robotspec.lookup.loop_time import InterruptionError

#: Names of errors of this machine: no network, no free file or port, a firewall, a wrong local
#: address. Exceptions of Twisted and curl may hide the system's own.
_LOCAL_ERRORS = frozenset(rows("local"))
#: Names of exceptions for an unknown host name: Scrapy's, Twisted's, curl's, aiohttp's.
_NAME_ERRORS = frozenset(rows("no_host"))
#: Names of errors -> what went wrong, in words.
_WORDS = {name: words for kind in ("failure", "no_host") for name, (words,) in rows(kind).items()}
INVALID = _WORDS["ParseError"]
#: Methods of a middleware that may drop a request.
_HOOKS = ("process_request", "process_response", "process_exception")
#: Parts of TLS errors where the other side does not use TLS.
_NOT_TLS = ("wrong version number", "http request", "packet length too long", "record layer")


def is_local(error: BaseException, *, resolves: bool) -> bool:
    """Whether *error* may say nothing about the origin.

    *resolves*: the names of other hosts are resolved.
    """
    if isinstance(error, IgnoreRequest | NotSupported | InterruptionError):  # dropped on this side
        return True
    names = {name for cause in _causes(error) for name in _names(cause)}
    return bool(names & (_LOCAL_ERRORS if resolves else _LOCAL_ERRORS | _NAME_ERRORS))


def in_one_line(error: BaseException) -> str:
    """Plain words for *error*, or its type and escaped text.

    They are safe for a terminal (SAF-04) and contain no password (SAF-06).
    """
    causes = _causes(error)
    for cause in causes:
        known = _in_words(cause)
        if known is not None:
            return known
    innermost = error
    if any(hasattr(cause, "reasons") for cause in causes):  # Twisted's, printed as objects
        innermost = causes[-1]
        if isinstance(innermost, ValueError | LookupError):  # a length or a coding
            return INVALID
    words = blank_user_info(" ".join(str(innermost).split()))[:200]
    kind = type(error).__name__
    text = f"{kind}: {words}" if words else kind
    return ascii(_raised_in(error) + text)[1:-1]


def _raised_in(error: BaseException) -> str:
    """The class of the middleware that has raised *error*, as its traceback shows it."""
    found, act = "", "dropped by" if isinstance(error, IgnoreRequest) else "raised in"
    for frame, _ in walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        is_scrapys = type(owner).__module__.startswith("scrapy.core.")  # it calls the middlewares
        if frame.f_code.co_name in _HOOKS and owner is not None and not is_scrapys:
            found = f"{act} {type(owner).__qualname__}: "
    return found


def _in_words(cause: BaseException) -> str | None:
    text = str(cause).lower().replace("_", " ")
    if any(part in text for part in _NOT_TLS):
        return "TLS failed (https on an http port?)"
    if "certificate verify failed" in text:
        return "TLS failed: certificate not valid"
    return next((_WORDS[name] for name in _names(cause) if name in _WORDS), None)


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


def _names(error: BaseException) -> tuple[str, str]:
    """The system's name for *error*, if it has one, and that of its type."""
    number: Any = getattr(error, "errno", None) or getattr(error, "osError", None)  # Twisted's
    return errorcode.get(number, ""), type(error).__name__
