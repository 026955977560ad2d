"""Requests handed back to the scheduler they came from: the same object, restored later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

#: Meta key of a request that comes from the scheduler and may be handed back to it.
QUEUED = "_robotspec_queued"
#: Meta key that keeps ``dont_filter`` of a request handed back past the duplicates filter.
DONT_FILTER = "_robotspec_dont_filter"


def requeue(request: Request) -> Request:
    """Make *request* acceptable for the scheduler that it has just come from."""
    request.meta.setdefault(DONT_FILTER, request.dont_filter)
    request.dont_filter = True
    return request


def restore(request: Request) -> bool:
    """Undo what waiting did to *request*; whether it came from a scheduler that knows the gate."""
    meta = request.meta
    if DONT_FILTER in meta:
        request.dont_filter = meta.pop(DONT_FILTER)
    return bool(meta.pop(QUEUED, False))
