"""What few crawls use of Scrapy's private parts, tried on the installed Scrapy.

Each test has the name of the function of ``_compat_rare.py`` that a new Scrapy asks to change.
"""

from __future__ import annotations

from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.core.engine import ExecutionEngine

from scrapy_robotspec.plugin import _compat, _compat_rare
from scrapy_robotspec.plugin._compat_rare import SendTimes
from tests.unit.plugin.scheduling.crawlers import (
    REQUEST,
    crawler_with_engine,
    engine_with_delay,
    slot_of,
)


def test_send_wait(engine: ExecutionEngine) -> None:
    times = SendTimes(engine.crawler)
    assert times.send_wait(REQUEST) == 0.0
    slot = slot_of(engine)
    assert times.send_wait(REQUEST) == 0.0
    _compat.take_slot_turn(engine, REQUEST)
    assert 2 < times.send_wait(REQUEST) <= 7.5
    slot.lastseen = 0
    slot.transferring.update(Request(f"http://a.example/{n}") for n in range(8))
    assert times.send_wait(REQUEST) > 0


def test_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until that request is in the slot, or for a moment, no other would be sent at once."""
    now = [1000.0]
    monkeypatch.setattr(_compat_rare, "slot_clock", lambda: now[0])
    engine = engine_with_delay()
    times, slot = SendTimes(engine.crawler), slot_of(engine)
    slot.delay = 0.0
    times.let_go(REQUEST)
    assert times.send_wait(REQUEST) > 0
    slot.lastseen = now[0]
    assert times.send_wait(REQUEST) == 0.0
    now[0] += 1.0
    times.let_go(REQUEST)
    assert times.send_wait(REQUEST) > 0
    now[0] += 1.0
    assert times.send_wait(REQUEST) == 0.0


@given(
    draws=st.lists(st.floats(2.5, 7.5), min_size=1, max_size=5),
    asked=st.lists(st.floats(0, 0.99), max_size=3).map(sorted),
)
def test_one_random_delay_is_drawn_for_a_page(draws: list[float], asked: list[float]) -> None:
    """DOWNLOAD_DELAY holds as it was drawn, and no later draw makes it longer."""
    engine = engine_with_delay()
    times, slot, now = SendTimes(engine.crawler), slot_of(engine), [1000.0]
    for drawn in draws:
        left = chain([drawn], repeat(7.5))
        began = slot.lastseen = now[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_compat_rare, "slot_clock", lambda: now[0])
            patch.setattr(type(slot), "download_delay", lambda _, left=left: next(left))
            for share in asked:
                now[0] = began + share * drawn
                assert times.send_wait(REQUEST) == pytest.approx(began + drawn - now[0])
            now[0] = began + drawn + 1e-6
            assert times.send_wait(REQUEST) == 0.0
            assert times.send_wait(REQUEST) == 0.0
        assert now[0] - slot.lastseen >= 7.5 - 1e-6  # whatever the downloader draws


def test_load_handlers() -> None:
    engine = crawler_with_engine().engine
    _compat_rare.load_handlers(engine)
    _compat_rare.load_handlers(None)
