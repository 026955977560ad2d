"""What a lookup returns: a resolved origin, a pending one, or the end of a fetch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Ground

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord


@dataclass(frozen=True, slots=True)
class Resolved(Ground):
    """An answer: what decisions about its origin rest on, and for how long."""

    span: tuple[float, float]
    """From when until when it may be given (epoch seconds). A clock that was put back before it was
    made makes it say nothing."""
    extensions: dict[Any, Any] | None = field(default=None, repr=False, compare=False)
    """For whoever answers with this object: what was worked out from its rules, gone with them.
    None where the file holds nothing but rules."""

    def holds_at(self, now: float) -> bool:
        """Whether it may be given at *now*."""
        begins, ends = self.span
        return begins <= now < ends


@dataclass(frozen=True, slots=True)
class Pending:
    """No answer before ``until`` (epoch seconds; ``inf``: before the flight under way has landed).

    A time that has come already means that no place was free to ask now. ``asked_before``: the
    origin was asked already and brought no answer in its time. ``gave_way``: a fetch was called
    back for another's sake.
    """

    origin: Origin
    until: float
    asked_before: bool = False
    preempted: bool = False


@dataclass(frozen=True, slots=True)
class FetchDone:
    """The end of a flight."""

    found: Resolved | Pending
    """What is answered from now on."""
    record: RobotsRecord | None
    """What that rests on."""
    before: RobotsRecord | None
    """What was held when the flight began."""
    seconds: float
    """How long it took."""
