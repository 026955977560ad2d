"""Requeueing: the same request object goes back to the scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request

#: Meta key of a request that came from a gated scheduler and may be requeued.
QUEUED = "_robotspec_queued"
#: Meta key for the user's ``dont_filter`` while a request waits.
DONT_FILTER = "_robotspec_dont_filter"


def requeue(request: Request) -> Request:
    """Return *request*, marked so that the duplicates filter lets it pass again."""
    request.meta.setdefault(DONT_FILTER, request.dont_filter)
    request.dont_filter = True
    return request


def restore(request: Request) -> bool:
    """Remove our marks; return whether a gated scheduler set them."""
    meta = request.meta
    if DONT_FILTER in meta:
        request.dont_filter = meta.pop(DONT_FILTER)
    return bool(meta.pop(QUEUED, False))
