"""The origins that ``compare.py`` crawls, one for each difference it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example.moods import FORBID_ALL, Answer, Mood, busy, cut, fixed, hops, late

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example.moods import Visit

ALLOW_ALL = b"User-agent: *\nDisallow:\n"
#: The words of a User-Agent header are not all names of the crawler.
AGENTS = b"""\
User-agent: mozilla
Disallow:

User-agent: ourbot
Disallow: /
"""
#: A rule that begins beyond the 500 KiB that the documents say are read.
OVERSIZED = ALLOW_ALL + b"# filling\n" * 60_000 + FORBID_ALL
#: Small, and costly for a parser that keeps the rules once for each name.
HOSTILE = b"".join(
    [
        *(b"User-agent: a%d\n" % n for n in range(2500)),
        *(b"Disallow: /x%d\n" % n for n in range(1000)),
    ]
)

#: How many origins are slow to answer, and for how long (seconds).
SLOW_ORIGINS, SLOW = 24, 3.0


def to_localhost(visit: Visit) -> Answer:
    """A redirect to a host of another name."""
    target = visit.origins["rules"].replace("127.0.0.1", "localhost")
    return Answer(301, headers={"Location": f"{target}/robots.txt"})


MOODS: Mapping[str, Mood] = {
    "rules": Mood(fixed(FORBID_ALL)),
    "closed": Mood(late(0.5, FORBID_ALL)),
    "missing": Mood(fixed(FORBID_ALL, 404)),
    "down": Mood(fixed(status=503)),
    "broken": Mood(cut),
    "busy": Mood(busy(2.0, FORBID_ALL)),
    "back": Mood(busy(2.0, ALLOW_ALL)),
    "abroad": Mood(to_localhost),
    "maze": Mood(hops(6, FORBID_ALL)),
    "oversized": Mood(fixed(OVERSIZED)),
    "agents": Mood(fixed(AGENTS)),
    "hostile": Mood(fixed(HOSTILE)),
    "fast": Mood(fixed(ALLOW_ALL)),
    **{f"slow{n}": Mood(late(SLOW, ALLOW_ALL)) for n in range(SLOW_ORIGINS)},
}
