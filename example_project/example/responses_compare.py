"""The origins that ``compare.py`` crawls, one for each difference it measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example.responses import FORBID_ALL, Answer, Case, busy, cut, elsewhere, fixed, hops, late

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from example.responses import Visit

ALLOW_ALL = b"User-agent: *\nDisallow:\n"
#: The words of a User-Agent header are not all names of the crawler.
AGENTS = b"""\
User-agent: mozilla
Disallow:

User-agent: ourbot
Disallow: /
"""
#: A rule that begins beyond the 500 KiB that the specifications say are read.
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


def short(visit: Visit) -> Answer:
    """The connection breaks before the body is complete."""
    return Answer(body=ALLOW_ALL, short=True)


def turns(count: int, body: bytes) -> Callable[[Visit], Answer]:
    """503 for the first ``count`` requests, then the rules."""
    return lambda visit: Answer(503) if visit.number <= count else Answer(body=body)


MOODS: Mapping[str, Case] = {
    "rules": Case(fixed(FORBID_ALL)),
    "closed": Case(late(0.5, FORBID_ALL)),
    "missing": Case(fixed(FORBID_ALL, 404)),
    "down": Case(fixed(status=503)),
    "broken": Case(cut),
    "busy": Case(busy(2.0, FORBID_ALL)),
    "back": Case(busy(2.0, ALLOW_ALL)),
    "abroad": Case(to_localhost),
    "maze": Case(hops(6, FORBID_ALL)),
    "oversized": Case(fixed(OVERSIZED)),
    "agents": Case(fixed(AGENTS)),
    "prefix": Case(fixed(b"User-agent: our\nDisallow: /\n")),
    "version": Case(fixed(b"User-agent: ourbot/1.2\nDisallow: /\n")),
    "delay": Case(fixed(b"User-agent: ourbot\nCrawl-delay: 1\nUser-agent: x\nDisallow: /\n")),
    **{f"status{n}": Case(fixed(FORBID_ALL, n)) for n in (401, 403, 410, 429, 500)},
    "open500": Case(fixed(ALLOW_ALL, 500)),
    "nowhere": Case(fixed(FORBID_ALL, 302)),
    "gone": Case(elsewhere("missing")),
    "short": Case(short),
    "turns": Case(turns(3, FORBID_ALL)),
    "hostile": Case(fixed(HOSTILE)),
    "fast": Case(fixed(ALLOW_ALL)),
    **{f"slow{n}": Case(late(SLOW, ALLOW_ALL)) for n in range(SLOW_ORIGINS)},
}
