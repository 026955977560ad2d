"""Forty origins, each with ten pages and one that is not for us: what ``fleet.py`` crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example.responses import SOME_RULES, Mood, late

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGINS = 40
PAGES = ("/", "/private/a.html", *(f"/page/{number}.html" for number in range(9)))

MOODS: Mapping[str, Mood] = {
    f"site{n:02}": Mood(late(0.3, SOME_RULES), PAGES) for n in range(ORIGINS)
}
