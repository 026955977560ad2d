"""Threads: runs blocking calls beside the event loop."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import Deferred

from scrapy_robotspec.plugin._compat_rare import caller_of_this_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class Threads:
    """Runs blocking calls in a worker thread, one at a time."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="robotspec")

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        """The outcome of ``call(*args)``, fired in the calling thread."""
        outcome: Deferred[Any] = Deferred()
        outcome.addCallback(Future.result)
        to_here = caller_of_this_thread()

        def pass_on(done: Future[_T]) -> None:
            with suppress(RuntimeError):  # a second Ctrl-C has closed the loop meanwhile
                to_here(_fire, outcome, done)

        self._executor.submit(call, *args).add_done_callback(pass_on)
        return outcome

    def close(self) -> None:
        """Take no more calls; the ones already submitted are finished."""
        self._executor.shutdown(wait=False)


def _fire(outcome: Deferred[Any], done: Future[Any]) -> None:
    if not outcome.called:  # else it was cancelled while the thread was at work
        outcome.callback(done)
