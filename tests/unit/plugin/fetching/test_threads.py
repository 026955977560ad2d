"""Threads: results and errors of blocking calls come back, and late ones do no harm."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from scrapy_robotspec.plugin.fetching import threads as module
from scrapy_robotspec.plugin.fetching.threads import Threads


@pytest.fixture(autouse=True)
def on_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test may have installed a reactor, which does not run."""

    def to_here() -> Callable[..., Any]:
        return asyncio.get_running_loop().call_soon_threadsafe

    monkeypatch.setattr(module, "caller_of_this_thread", to_here)


def divide(number: int) -> tuple[float, str]:
    return 1 / number, threading.current_thread().name


def test_a_result_and_an_error_come_back_to_the_thread_that_asked() -> None:
    async def run() -> None:
        threads = Threads()
        outcomes: list[Any] = []
        threads(divide, 2).addCallback(outcomes.append)
        threads(divide, 0).addErrback(outcomes.append)
        while len(outcomes) < 2:
            await asyncio.sleep(0.01)
        (half, name), failure = outcomes
        assert (half, failure.type) == (0.5, ZeroDivisionError)
        assert name.startswith("robotspec")
        threads.close()

    asyncio.run(run())


def test_a_call_that_was_cancelled_ends_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        threads, may_end = Threads(), threading.Event()
        outcome = threads(may_end.wait)
        outcome.addErrback(lambda _: None)
        outcome.cancel()
        may_end.set()
        threads._executor.shutdown(wait=True)
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert caplog.records == []


def test_a_call_that_outlives_the_loop_ends_without_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A second Ctrl-C closes the loop at once; a slow store does not add a traceback."""
    loop, may_end = asyncio.new_event_loop(), threading.Event()
    monkeypatch.setattr(module, "caller_of_this_thread", lambda: loop.call_soon_threadsafe)
    threads = Threads()
    threads(may_end.wait)
    loop.close()
    may_end.set()
    threads._executor.shutdown(wait=True)
    assert caplog.records == []


def test_closing_waits_for_no_call_and_leaves_no_thread() -> None:
    async def run() -> None:
        threads, may_end = Threads(), threading.Event()
        begun, was_set = list[threading.Thread](), list[bool]()

        def work() -> None:
            begun.append(threading.current_thread())
            was_set.append(may_end.wait(5))

        threads(work)
        threads.close()
        may_end.set()
        begun[0].join(10)
        assert not begun[0].is_alive()
        assert was_set == [True]

    asyncio.run(run())
