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


def pass_time(clock: Clock, seconds: float) -> None:
    """Let *seconds* of *clock* pass, and make each delayed call in time."""
    end = clock.seconds() + seconds
    calls: Any = clock.calls  # the next is the first
    while calls and calls[0].getTime() <= end:
        clock.advance(max(0.0, calls[0].getTime() - clock.seconds()))
    clock.advance(max(0.0, end - clock.seconds()))


def call_later(clock: Clock) -> Callable[..., DelayedCall]:
    """The function that calls another after some seconds of a clock."""
    return lambda seconds, call, *args: DelayedCall(clock.callLater(seconds, call, *args))
