"""The arithmetic of page slots, which stores in Python share."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.store.base import (
    HORIZON,
    QUEUE_KEPT,
    SlotQueue,
    SlotRequest,
    has_expired,
    reserve,
)

times = st.floats(0, 1e6)


@given(
    asked=st.lists(
        st.tuples(
            st.floats(0, 5).map(lambda seconds: round(seconds, 3)),
            st.sampled_from([0.25, 0.5, 3.0]),
            st.sampled_from(["new", "position", "given up", "turn", "seen"]),
        ),
        max_size=40,
    )
)
def test_no_slot_is_granted_in_the_spacing_of_another(
    asked: list[tuple[float, float, str]],
) -> None:
    """EXT-01, at any times and whatever callers claim."""
    now, line, slots = 1000.0, None, dict[float, float]()
    position = slot = 0.0
    for seconds, spacing, kind in asked:
        now += seconds
        request = {
            "new": SlotRequest(spacing),
            "position": SlotRequest(spacing, position=position),
            "given up": SlotRequest(spacing, given_up=slot),
            "turn": SlotRequest(spacing, within=0.05),
            "seen": SlotRequest(spacing, seen=now - seconds),
        }[kind]
        if kind == "given up":
            slots.pop(slot, None)
        line, reply = reserve(line, now, request)
        if reply.granted:
            slot, slots[reply.at] = reply.at, spacing
            assert now <= slot <= now + HORIZON
        elif kind != "turn":
            position = reply.at
    taken = sorted(slots.items())
    for (earlier, spacing), (later, _) in itertools.pairwise(taken):
        assert later >= earlier + spacing


@given(
    st.none() | st.builds(SlotQueue, times, times, times),
    times,
    st.floats(0.001, 1e5),
    times,
)
def test_each_line_that_is_written_is_valid_for_the_next_caller(
    line: SlotQueue | None, now: float, spacing: float, seen: float
) -> None:
    """SAF-05: whatever was read, of a sound line nothing is thrown away."""
    written, reply = reserve(line, now, SlotRequest(spacing, seen=seen))
    assert written.is_valid(now, spacing)
    assert not has_expired(written, now)
    assert has_expired(written, max(written.next, written.tail) + QUEUE_KEPT + 1)
    assert reply.now == now <= reply.at
