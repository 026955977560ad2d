"""Follows redirects from record to record (FET-03, FET-04)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from w3lib.url import safe_url_string

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.bulk.documents import MAX_REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.bulk.documents import Document


class Captures:
    """The places of responses in a part of an archive, by URL."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}
        self._number = 0

    def __len__(self) -> int:
        """The number of responses."""
        return self._number

    def add(self, url: str, place: int) -> None:
        """Add the response at an offset; offsets rise."""
        self._places.setdefault(_canonical(url), []).append(place)
        self._number += 1

    def find(self, url: str, after: int) -> int | None:
        """The place of a URL's next response, else of its first one."""
        places = self._places.get(_canonical(url))
        if places is None:
            return None
        return places[bisect_right(places, after) % len(places)]

    def follow(self, first: Document, place: int, read: Callable[[int], Document]) -> Document:
        """The response that redirects lead to, as their first URL's document.

        ``read``: the response at an offset. A target that is not here ends the chain.
        """
        found, followed = first, first.followed
        while len(followed) < MAX_REDIRECTS and (target := found.target) is not None:
            next_place = self.find(target, place)
            if next_place is None:
                break
            place = next_place
            followed = (*followed, target)
            found = read(place)._replace(url=first.url, source=first.source, followed=followed)
        return found


def _canonical(url: str) -> str:
    """A URL in the spelling that URLs are compared by: origin, path and query."""
    origin = Origin.of(url)
    if not url.isascii():
        url = safe_url_string(url)
    rest = url.partition("#")[0].partition("://")[2]
    begin = min((at for mark in "/?" if (at := rest.find(mark)) >= 0), default=len(rest))
    path = rest[begin:]
    return f"{origin}{path if path.startswith('/') else '/' + path}"
