"""Delayed calls of a test's clock, as the plugin makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.task import Clock


class DelayedCall:
    """A delayed call that may be cancelled too late."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def cancel(self) -> None:
        if self._call.active():
            self._call.cancel()


def call_later(clock: Clock) -> Callable[..., DelayedCall]:
    """The function that calls another after some seconds of a clock."""
    return lambda seconds, call, *args: DelayedCall(clock.callLater(seconds, call, *args))
