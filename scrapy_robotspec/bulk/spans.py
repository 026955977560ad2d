"""Names and spans of the groups that a crawler follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.agent_index import Place, Spans


def follow(index: Mapping[str, Place], keys: Sequence[str]) -> tuple[tuple[str, ...], Spans]:
    """Names and spans of the groups with some keys.

    No byte is in two spans.
    """
    if len(keys) == 1:  # usual
        name, spans = index[keys[0]]
        return (name,), tuple(spans)
    places = [index[key] for key in keys]
    parts = [part for _, spans in places for part in zip(spans[::2], spans[1::2], strict=True)]
    joined: list[int] = []
    for begin, end in sorted(parts):
        if joined and begin < joined[-1]:  # a group of several of these agents
            joined[-1] = max(joined[-1], end)
        else:
            joined += begin, end
    return tuple(name for name, _ in places), tuple(joined)
