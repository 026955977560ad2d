"""A worker thread that a test moves."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

_T = TypeVar("_T")


class Threads:
    """Calls not made yet, and outcomes that have not arrived yet."""

    def __init__(self) -> None:
        self._calls: list[tuple[Callable[[], Any], Deferred[Any]]] = []
        self._outcomes: list[tuple[Any, Deferred[Any]]] = []
        self.at_once = True

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        outcome: Deferred[_T] = Deferred()
        self._calls.append((lambda: call(*args), outcome))
        if self.at_once:
            self.run()
        return outcome

    def work(self) -> bool:
        """The thread makes the next call; whether there was one."""
        if not self._calls:
            return False
        call, outcome = self._calls.pop(0)
        self._outcomes.append((call(), outcome))
        return True

    def bring(self) -> bool:
        """The next outcome arrives; whether there was one."""
        if not self._outcomes:
            return False
        result, outcome = self._outcomes.pop(0)
        if not outcome.called:  # cancelled meanwhile
            outcome.callback(result)
        return True

    def run(self) -> None:
        while self.work() or self.bring():
            pass


def result_of(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine that waits for nothing, or its exception."""
    results: list[_T | Failure] = []
    Deferred.fromCoroutine(coroutine).addBoth(results.append)
    (result,) = results
    if isinstance(result, Failure):
        result.raiseException()
    return result
