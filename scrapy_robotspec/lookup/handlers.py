"""Waits for signal handlers, with a limit."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.lookup.runtime import pause

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.runtime import Runtime

logger = logging.getLogger(__name__)

#: Longest time that signal handlers may delay the requests of an origin (seconds).
HANDLER_TIMEOUT = 30.0

#: How cancelled handlers end: a Deferred's error or, with older Twisted, a task's.
_CANCELLED = (CancelledError, asyncio.CancelledError)


async def wait_for_handlers(
    runtime: Runtime[Any], origin: Origin, handling: Deferred[None]
) -> None:
    """Return when *handling* ends, or with a warning after ``HANDLER_TIMEOUT``.

    Raises the error of *handling*. Cancelling the wait cancels the handlers.
    """
    handled: Deferred[None] = Deferred()
    handling.addBoth(_pass_on, handled)
    try:
        await pause(runtime, HANDLER_TIMEOUT, handled)
    except CancelledError:
        handling.cancel()
        raise
    if not handling.called:
        logger.warning(
            "A handler of robots_parsed or robots_changed takes longer than %g s for %s: the "
            "origin's requests go on without it",
            HANDLER_TIMEOUT,
            origin,
        )


def _pass_on(result: Failure | None, handled: Deferred[None]) -> None:
    """Give *result* to the flight, unless it comes too late."""
    if not handled.called:
        handled.callback(result)
    elif isinstance(result, Failure) and not isinstance(result.value, _CANCELLED):
        logger.error("Error in a handler that took too long: %s", result.getTraceback())
