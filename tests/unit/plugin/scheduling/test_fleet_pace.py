"""One pace of 1 to 100 processes, simulated: calm, in every kind of trouble, and without the store.

EXT-01: gaps are those at the sender. ``benchmarks/fleet_pace.py`` measures real crawls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.fleet_simulation import HOLD, Fleet

SIZES = [1, 4, 16, 100]


def crawling(delay: float, size: int, **options: Any) -> Fleet:
    """A fleet that has crawled for a while."""
    fleet = Fleet(delay, **options)
    fleet.start(size)
    fleet.run(max(min(100 * delay, 3_000.0), 20.0))
    return fleet


def longest_silence(fleet: Fleet, since: float) -> float:
    return max(fleet.gaps(since - 2 * fleet.delay))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("delay", "pace"), [(0.2, 0.9), (0.5, 0.94), (1, 0.94), (60, 0.98)])
def test_calm(delay: float, pace: float, size: int) -> None:
    """No gap is short, the pace is kept, each process has its part, and calls are few."""
    fleet = Fleet(delay)
    fleet.start(size)
    fleet.run((300 if delay <= 1 else 150) * delay)
    assert fleet.short() == 0
    assert fleet.pace(2 * delay) >= pace
    pages = [len(process.pages) for process in fleet.processes]
    assert max(pages) <= 1.5 * min(pages) + 2
    if delay <= 1:
        assert fleet.store.calls <= 9 * len(fleet.sent)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("stalls", "pace"), [(0.03, 0.88), (0.2, 0.75)])
def test_processes_that_wake_late(stalls: float, pace: float, size: int) -> None:
    """A page that would be late gives its slot up, and a reply read late moves no other slot."""
    fleet = crawling(1, size, stalls=stalls)
    fleet.run(200)
    assert fleet.short() <= 3
    assert fleet.pace(20) >= pace


@pytest.mark.parametrize("size", SIZES)
def test_a_store_far_away(size: int) -> None:
    """Replies take 50 to 150 ms, more than the margin of 50 ms allows for."""
    fleet = crawling(1, size, away=0.1)
    assert min(fleet.gaps()) >= 0.95
    assert fleet.pace(3) >= 0.94


def test_timers_that_end_a_little_early() -> None:
    """Reactors count by other clocks: the slot is asked for once more."""
    fleet = crawling(1, 1, early=0.0015, jitter=0.0)
    fleet.run(100)
    assert fleet.short() == 0
    assert fleet.pace(20) >= 0.9


def restart(fleet: Fleet) -> None:
    size = len(fleet.processes)
    fleet.kill(size)
    fleet.run(5)
    fleet.start(size)


def slower(fleet: Fleet) -> None:
    fleet.delay *= 10


#: What happens to the fleet, and the longest silence after it: seconds, and delays of before it.
TROUBLES: dict[str, tuple[Callable[[Fleet], None], float, float]] = {
    "one process is killed": (lambda fleet: fleet.kill(1), 0, 2.5),
    # The last one looks whether those before it in line are alive.
    "all but one are killed": (lambda fleet: fleet.kill(len(fleet.processes) - 1), 40, 1),
    "the fleet is restarted": (restart, 40, 1),
    # It has forgotten the last pages: there may be one a moment ago.
    "the store is flushed": (lambda fleet: fleet.store.flush(), 2, 2.2),
    "the delay grows tenfold": (slower, 0, 20),
}


@pytest.mark.parametrize(
    ("trouble", "size", "delay"),
    [
        (each, size, delay)
        for each in TROUBLES
        for size in SIZES
        for delay in ([0.2, 1] if size == 100 else [0.2, 1, 60])
        if size > 1 or "killed" not in each
    ],
)
def test_trouble_brings_no_pages_closer_and_the_pace_back(
    trouble: str, size: int, delay: float
) -> None:
    strike, seconds, delays = TROUBLES[trouble]
    fleet = crawling(delay, size)
    began_at = fleet.time.now
    strike(fleet)
    fleet.run(100 + max(50 * delay, 20 * fleet.delay))
    silence = seconds + delays * delay
    assert fleet.short() == 0
    assert longest_silence(fleet, began_at) <= silence
    assert fleet.pace(began_at + silence) >= 0.88


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("delay", [0.2, 1, 6])
def test_the_delay_falls_to_a_tenth(delay: float, size: int) -> None:
    """After one more slot of the old delay the pages come at the new pace, within seconds."""
    fleet = crawling(10 * delay, size)
    changed_at = fleet.time.now
    fleet.delay = delay
    fleet.run(60 + 50 * delay)
    assert fleet.short() == 0
    assert longest_silence(fleet, changed_at) <= 11 * delay
    assert fleet.pace(changed_at + 40) >= 0.88


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("delay", [0.2, 1])
def test_the_store_is_gone_and_comes_back(delay: float, size: int) -> None:
    """Each process keeps the turns that it had, until all have noticed that the store is back."""
    fleet = crawling(delay, size)
    gone_at = fleet.time.now
    fleet.store.is_gone = True
    fleet.run(60)
    fleet.store.is_gone = False
    fleet.run(60)
    assert fleet.short() == 0
    assert longest_silence(fleet, gone_at) <= 7 + delay
    assert fleet.pace(gone_at + 8, gone_at + 60) >= 0.7
    assert fleet.pace(gone_at + 80) >= 0.9


@pytest.mark.parametrize("size", [1, 3, 4, 16])
@pytest.mark.parametrize("delay", [0.2, 1])
@pytest.mark.parametrize("timeout", [2, 5])
def test_the_store_hangs(delay: float, size: int, timeout: float) -> None:
    """Each process learns that after a while of its own, and keeps its turns all the same."""
    fleet = crawling(delay, size)
    gone_at = fleet.time.now
    fleet.store.is_gone, fleet.store.hangs = True, timeout
    fleet.run(60)
    fleet.store.is_gone = False
    fleet.run(60)
    silence = timeout + 7 + 1.1 * size * delay
    assert fleet.short() == 0
    assert longest_silence(fleet, gone_at) <= silence
    assert fleet.pace(gone_at + silence, gone_at + 60) >= 0.65
    assert fleet.pace(gone_at + 80) >= 0.9


@pytest.mark.parametrize("size", [1, 3, 16])
@pytest.mark.parametrize("delay", [0.2, 1])
@pytest.mark.parametrize("seconds", [0.3, 3, 20])
def test_the_store_is_gone_and_comes_back_empty(delay: float, size: int, seconds: float) -> None:
    """A server without persistence is restarted."""
    fleet = crawling(delay, size)
    gone_at = fleet.time.now
    fleet.store.is_gone = True
    fleet.run(seconds)
    fleet.store.flush()
    fleet.store.is_gone = False
    fleet.run(60)
    assert fleet.short() == 0
    assert longest_silence(fleet, gone_at) <= 8 + delay
    assert fleet.pace(gone_at + 40) >= 0.88


@pytest.mark.parametrize("size", [1, 3, 4])
@pytest.mark.parametrize("delay", [0.4, 1])
@pytest.mark.parametrize(("gone", "back"), [(8, 8), (12, 5), (20, 40)])
def test_the_store_is_gone_again_and_again(
    size: int, delay: float, gone: float, back: float
) -> None:
    """Own turns of a process that has missed an outage do not meet those of the others."""
    fleet = crawling(delay, size)
    for _ in range(6):
        fleet.store.is_gone = True
        fleet.run(gone)
        fleet.store.is_gone = False
        fleet.run(back)
    fleet.run(40)
    assert fleet.short() == 0


@pytest.mark.parametrize("size", SIZES)
def test_the_store_is_gone_at_the_start_and_comes(size: int) -> None:
    """No process knows of another one, so each waits for the store."""
    fleet = Fleet(1)
    fleet.store.is_gone = True
    fleet.start(size)
    fleet.run(HOLD - 1)
    assert fleet.sent == []
    fleet.store.is_gone = False
    fleet.run(60)
    assert fleet.short() == 0
    assert fleet.pace(HOLD + 20) >= 0.9


def test_the_store_is_gone_at_the_start_and_stays_away(caplog: pytest.LogCaptureFixture) -> None:
    """After a time each process keeps the delay for itself."""
    fleet = Fleet(1)
    fleet.store.is_gone = True
    fleet.start(3)
    fleet.run(HOLD + 30)
    for process in fleet.processes:
        assert HOLD <= process.pages[0] <= HOLD + 10
        assert min(process.gaps()) >= 1
    assert caplog.text.count("ROBOTSPEC_HOLD_TIMEOUT") == 3


def test_a_process_whose_calls_fail_for_a_moment_leaves_the_slots_to_the_others() -> None:
    fleet = crawling(1, 3)
    lost_at = fleet.time.now
    fleet.processes[0].is_cut_off = True
    fleet.run(3)
    fleet.processes[0].is_cut_off = False
    fleet.run(40)
    assert fleet.short() == 0
    assert fleet.pace(lost_at) >= 0.9
    assert len([at for at in fleet.processes[0].pages if at > lost_at + 20]) >= 5


def test_the_clock_of_the_store_is_put_back() -> None:
    fleet = crawling(1, 4)
    set_at = fleet.time.now
    fleet.store.ahead -= 3600
    fleet.run(50)
    assert fleet.short() == 0
    assert longest_silence(fleet, set_at) <= 4
    assert fleet.pace(set_at) >= 0.9


def test_download_slots_that_are_often_full() -> None:
    """A slot that cannot be used is given up, and goes to another process."""
    fleet = Fleet(1)
    for process in fleet.start(4):
        process.occupy(every=7.0, seconds=2.0)
    fleet.run(200)
    assert fleet.short() == 0
    assert fleet.pace(10) >= 0.75
