"""Forty origins, each with ten pages and one disallowed page: what ``fleet.py`` crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example.responses import SOME_RULES, Case, late

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGINS = 40
PAGES = ("/", "/private/a.html", *(f"/page/{number}.html" for number in range(9)))

#: Origins with a crawl delay, and the delay (seconds).
DELAYED = tuple(f"site{n:02}" for n in range(4))
DELAY = 0.5
DELAYED_RULES = SOME_RULES + b"Crawl-delay: %g\n" % DELAY

MOODS: Mapping[str, Case] = {
    name: Case(late(0.3, DELAYED_RULES if name in DELAYED else SOME_RULES), PAGES)
    for name in (f"site{n:02}" for n in range(ORIGINS))
}
