"""Lanes: requests waiting in line, one line for each download slot and origin.

What belongs here: which line the next request comes from. Which origins may go at all is the
gate's business (``gate.py``), what a line is made of that of whoever owns the lanes
(``waiting.py``).

A choice must not grow with the number of lines. So lines that may not go are not among those that
are looked at, and of those that may, the first one whose download slot is idle is taken: no more
lines are looked at than there are busy slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_robotspec.plugin.gate import State
from scrapy_robotspec.plugin.pools import Crowds, Lane, Line, Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.gate import Gate
    from scrapy_robotspec.plugin.pools import Downloads


_L = TypeVar("_L", bound=Line)


class Lanes(Generic[_L]):
    """All lines of one queue. ``gate`` None: everything may go.

    ``drop`` is called with a lane that has become empty.
    """

    def __init__(
        self,
        gate: Gate | None,
        downloads: Downloads,
        drop: Callable[[Lane[_L]], None],
        count_held: Callable[[int], None],
    ) -> None:
        self._gate = gate
        self._downloads = downloads
        self._drop = drop
        self._count_held = count_held
        self._all: dict[tuple[str, Origin | None], Lane[_L]] = {}
        self._by_origin: dict[Origin, list[Lane[_L]]] = {}
        self._free: Pool[_L] = Pool()
        self._spaced: Pool[_L] = Pool()
        self._new: Pool[_L] = Pool()
        self._due: Pool[_L] = Pool()
        self._pools = {
            State.FREE: self._free,
            State.SPACED: self._spaced,
            State.NEW: self._new,
            State.DUE: self._due,
        }
        self._crowds: Crowds[_L] = Crowds()
        self._turn = 0
        self._offered: list[tuple[Lane[_L], Request]] = []
        self._requests = 0
        if gate is not None:
            gate.subscribe(self)

    def __len__(self) -> int:
        return self._requests

    def __iter__(self) -> Iterator[Lane[_L]]:
        return iter(self._all.values())

    def get(self, slot: str, origin: Origin | None) -> Lane[_L] | None:
        return self._all.get((slot, origin))

    def open(self, slot: str, origin: Origin | None, line: _L) -> Lane[_L]:
        """Take in a line, with what stands in it already."""
        state = State.FREE
        if origin is not None and self._gate is not None:
            state = self._gate.enter(origin)
            self._by_origin.setdefault(origin, [])
        lane = Lane(slot, origin, line, state)
        self._all[slot, origin] = lane
        if origin is not None and self._gate is not None:
            self._by_origin[origin].append(lane)
        self._requests += len(line)
        self._place(lane, state)
        return lane

    def push(self, lane: Lane[_L], request: Request) -> None:
        """Put *request* into *lane*."""
        lane.line.push(request)
        self._requests += 1
        if lane.state is State.HELD:
            self._count_held(1)
        elif lane.state is State.NEW:
            self._new.renew(lane)
            self._crowds.grown(lane)

    def pop(self) -> Request | None:
        """The next request that may go, or None."""
        if self._offered:
            self._take_back_dropped()
        while (lane := self._choose()) is not None:
            request = lane.line.pop()
            if request is not None and lane.state is not State.FREE:
                # One goes ahead; the others stay until the gate has heard of it.
                self._pools[lane.state].remove(lane)
                self._offered.append((lane, request))
            if not len(lane.line):
                self._close(lane)
            if request is not None:
                self._requests -= 1
                return request
        return None

    def peek(self) -> Lane[_L] | None:
        """The lane that :meth:`pop` would take from, give or take its turns."""
        return self._choose()

    def clear(self) -> None:
        self._all.clear()
        self._by_origin.clear()
        self._offered.clear()
        self._crowds = Crowds()
        self._requests = 0
        for pool in self._pools.values():
            pool.clear()

    # --- what the gate tells

    def moved(self, origin: Origin, state: State) -> None:
        if self._offered:
            self._offered = [entry for entry in self._offered if entry[0].origin != origin]
        for lane in self._by_origin.get(origin, ()):
            self._remove(lane)
            self._place(lane, state)

    def waiting(self, origin: Origin) -> int:
        return sum(len(lane.line) for lane in self._by_origin.get(origin, ()))

    # --- places

    def _place(self, lane: Lane[_L], state: State) -> None:
        lane.state = state
        if state is State.HELD:
            self._count_held(len(lane.line))
            return
        self._pools[state].add(lane)
        if state is State.NEW:
            self._crowds.add(lane)

    def _remove(self, lane: Lane[_L]) -> None:
        if lane.state is State.HELD:
            self._count_held(-len(lane.line))
        else:
            self._pools[lane.state].remove(lane)

    def _choose(self) -> Lane[_L] | None:
        if self._spaced:
            return self._spaced.least_busy(self._downloads)
        if self._new or self._due:
            lane = self._one_to_ask()
            if lane is not None:
                return lane
        return self._free.least_busy(self._downloads)

    def _one_to_ask(self) -> Lane[_L] | None:
        """By turns the newest newcomer, that with most requests, the oldest, and one asked before.

        Thousands of silent origins may stand before one that answers at once and has many pages,
        and come back when they are to be asked again; neither they nor thousands of newcomers may
        keep another waiting for ever.
        """
        assert self._gate is not None
        ahead = sum(lane.state is not State.SPACED for lane, _ in self._offered)
        self._turn = (self._turn + 1) % 4
        for state in (State.DUE, State.NEW) if self._turn == 0 else (State.NEW, State.DUE):
            if self._pools[state] and self._gate.may_ask(state, ahead):
                return self._due.oldest() if state is State.DUE else self._newcomer()
        return None

    def _newcomer(self) -> Lane[_L]:
        if self._turn == 1:
            return self._new.newest()
        crowd = self._crowds.longest(self._new) if self._turn == 2 else None
        return self._new.oldest() if crowd is None else crowd

    def _close(self, lane: Lane[_L]) -> None:
        self._remove(lane)
        del self._all[lane.slot, lane.origin]
        if lane.origin is not None and lane.origin in self._by_origin:
            lanes = self._by_origin[lane.origin]
            lanes.remove(lane)
            if not lanes:
                del self._by_origin[lane.origin]
        self._drop(lane)

    def _take_back_dropped(self) -> None:
        """Offer an origin again whose one request was dropped before it came to the gate."""
        kept = []
        for lane, request in self._offered:
            if self._downloads.is_active(request):
                kept.append((lane, request))
            elif len(lane.line):
                self._place(lane, lane.state)
        self._offered = kept
