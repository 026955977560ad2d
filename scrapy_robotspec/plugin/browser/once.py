"""Once: runs a coroutine function once for each object."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_T = TypeVar("_T")


class Once(Generic[_T]):
    """Concurrent calls for one object wait for the same result."""

    def __init__(self, run: Callable[[Any], Coroutine[Any, Any, _T]]) -> None:
        self._run = run
        self._results: WeakKeyDictionary[Any, asyncio.Future[_T]] = WeakKeyDictionary()

    async def __call__(self, key: Any) -> _T:
        """The result of ``run(key)``."""
        if key not in self._results:
            self._results[key] = asyncio.ensure_future(self._run(key))
        # One that is cancelled while it waits does not end the others.
        return await asyncio.shield(self._results[key])
