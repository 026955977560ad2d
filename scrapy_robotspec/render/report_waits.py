"""Waits of a crawl: the longest as a drawing, all as numbers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.render.report_tables import Top, top
from scrapy_robotspec.render.text import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.render.crawl_report import CrawlReport, OriginStats

#: Max waits in the drawing.
MAX_BARS = 20
#: Longest label of a bar (characters); it fits on a phone.
_MAX_LABEL = 28
#: Height of a bar with its label (pixels), and smallest width of a bar (percent).
_ROW_HEIGHT = 34
_MIN_WIDTH = 0.6

_PENDING, _GIVEN_UP, _ANSWERED = "pending", "given up", "answered"
#: Upper bounds of the classes of durations (seconds).
_BOUNDS = (1, 10, 60, 600)


class Wait(NamedTuple):
    """The longest wait of one origin, or its current one."""

    origin: OriginStats
    began: float
    """Epoch seconds."""
    seconds: float
    end: str
    """``"answered"``, ``"given up"`` or ``"pending"``."""


class Bar(NamedTuple):
    """A wait in the drawing: ``left``, ``width`` in percent, ``top`` in pixels."""

    wait: Wait
    label: str
    left: float
    width: float
    top: int


class Drawing(NamedTuple):
    """The longest waits as bars over the time of the crawl."""

    bars: Sequence[Bar]
    height: int
    """Pixels."""
    first: str
    last: str
    """When the shown time begins and ends, counted from the start of the crawl."""


class DurationClass(NamedTuple):
    """Origins whose longest wait took about the same time."""

    name: str
    number: int
    share: float
    """Percent of the largest class."""


class Waits(NamedTuple):
    """All waits of a crawl."""

    longest: Top[Wait]
    drawing: Drawing
    classes: Sequence[DurationClass]
    pending: Top[Wait]


def waits_of(report: CrawlReport) -> Waits:
    """The waits of *report*; without rows if nothing waited."""
    waits = [wait for origin in report.origins if (wait := _wait(origin, report.now)) is not None]
    longest = top(waits, _seconds, MAX_BARS)
    return Waits(
        longest,
        _drawing(longest.rows, report),
        _classes(waits),
        top((wait for wait in waits if wait.end == _PENDING), _seconds),
    )


def _seconds(wait: Wait) -> float:
    return wait.seconds


def _wait(origin: OriginStats, now: float) -> Wait | None:
    if origin.pending_since is not None:
        return Wait(origin, origin.pending_since, max(0.0, now - origin.pending_since), _PENDING)
    if origin.wait_began is None:
        return None
    is_down = origin.answer == Meaning.UNREACHABLE.value
    end = _GIVEN_UP if is_down and origin.given_up else _ANSWERED
    return Wait(origin, origin.wait_began, origin.wait_seconds, end)


def _drawing(waits: Sequence[Wait], report: CrawlReport) -> Drawing:
    first = min((wait.began for wait in waits), default=report.started)
    last = max((wait.began + wait.seconds for wait in waits), default=report.now)
    length = max(last - first, 0.001)
    bars = []
    for number, wait in enumerate(sorted(waits, key=lambda wait: wait.began)):
        width = max(_MIN_WIDTH, 100 * wait.seconds / length)
        left = min(100 * (wait.began - first) / length, 100 - width)
        bars.append(Bar(wait, _label(wait), round(left, 2), round(width, 2), _ROW_HEIGHT * number))
    return Drawing(
        bars,
        _ROW_HEIGHT * len(bars),
        duration(max(0.0, first - report.started)),
        duration(max(0.0, last - report.started)),
    )


def _label(wait: Wait) -> str:
    host = wait.origin.origin.partition("://")[2]
    host = host if len(host) <= _MAX_LABEL else f"{host[: _MAX_LABEL - 1]}…"
    return f"{host}: {duration(wait.seconds)}, {wait.end}"


def _classes(waits: Sequence[Wait]) -> list[DurationClass]:
    counts = [0] * (len(_BOUNDS) + 1)
    for wait in waits:
        counts[sum(wait.seconds >= bound for bound in _BOUNDS)] += 1
    names = [f"less than {duration(_BOUNDS[0])}"]
    names += [f"{duration(a)} to {duration(b)}" for a, b in itertools.pairwise(_BOUNDS)]
    names.append(f"{duration(_BOUNDS[-1])} or more")
    most = max(*counts, 1)
    return [
        DurationClass(name, number, round(100 * number / most, 1))
        for name, number in zip(names, counts, strict=True)
    ]
