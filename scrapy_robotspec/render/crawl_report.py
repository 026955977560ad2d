"""Contents of a crawl's report for each origin, and their JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import Outlook, RequestCounts, WaitEnd
from scrapy_robotspec.access.reasons import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.access.outcome import Hop
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: The files of a crawl with at most this number of sites are kept and shown.
MAX_FILES = 3


@dataclass(slots=True)
class RefusalStats:
    """Requests of one origin that the same line refused."""

    reason: str
    """That of :class:`~scrapy_robotspec.access.decision.Decision`."""
    line: int | None = None
    """The line of robots.txt, from 1; None where no line decided."""
    rule: str | None = None
    """The beginning of that line."""
    pattern: str | None = None
    """The beginning of the rule's path pattern; None where no rule decided."""
    count: int = 0
    """Requests."""
    examples: list[str] = field(default_factory=list)
    """The first URLs, shortened."""


@dataclass(slots=True)
class OriginStats:
    """Counts of one origin, and the facts of its latest robots.txt response.

    Times are in epoch seconds.
    """

    origin: str
    """Empty: of all requests without a row of their own."""
    requests: RequestCounts = field(default_factory=RequestCounts)
    waited: int = 0
    given_up: int = 0
    asked: int = 0
    """Attempts to learn its robots.txt, from a shared store or by a fetch."""
    failed: int = 0
    """Attempts without a usable answer."""
    seconds: float = 0.0
    """Duration of the slowest attempt."""
    answer: str | None = None
    """``rules``, ``allow``, ``disallow`` or ``unreachable``."""
    status: int | None = None
    failure: str | None = None
    hops: int | None = None
    bytes: int | None = None
    fetched: float | None = None
    """When the copy held was fetched; None: there is none."""
    usage: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Pages by the preference of each declared label: ``allow``, ``disallow`` or ``unknown``."""
    truncated: bool = False
    """The file is longer than the parsing limit."""
    doubt: str | None = None
    """``no robots.txt: HTML page`` and the like (FET-20)."""
    redirects: Sequence[Hop] = ()
    failures: Counter[str] = field(default_factory=Counter)
    """Failed attempts by what went wrong."""
    first_asked: float | None = None
    """When its robots.txt was needed for the first time."""
    answered: float | None = None
    """When the first usable answer came."""
    wait_began: float | None = None
    """Beginning of the longest time that requests waited for it and that has ended."""
    wait_seconds: float = 0.0
    """Duration of that time."""
    wait_end: WaitEnd | None = None
    """How the latest wait ended that held a request."""
    pending_since: float | None = None
    """Since when requests wait for its robots.txt; None: none waits."""
    waiting: int = 0
    """Requests that wait now, for its robots.txt or its crawl delay."""
    outlook: Outlook | None = None
    """The further attempts while requests wait; None: no attempt has failed."""
    refused_by: list[RefusalStats] = field(default_factory=list)
    overrides: Counter[str] = field(default_factory=Counter)
    """Requests by the kind of override that was applied."""
    crawl_delay: float | None = None
    """Seconds between two pages; None: no delay is obeyed."""
    delay_not_kept: float | None = None
    """Crawl delay in seconds that the file asks for and that is not kept."""
    words: str = "not requested"
    """The latest answer in words."""
    file: RobotsTxt | None = None
    """The latest file, of the first origins alone."""

    def include(self, other: OriginStats) -> None:
        """Add the sums of *other*, which another thread may count meanwhile."""
        self.requests.include(other.requests)
        self.waited += other.waited
        self.waiting += other.waiting
        self.given_up += other.given_up
        self.asked += other.asked
        self.failed += other.failed
        self.overrides.update(dict(other.overrides))
        for label, preferences in dict(other.usage).items():
            self.usage[label].update(dict(preferences))

    def was_slow(self, slow: float) -> bool:
        """Whether an attempt failed, or requests waited for *slow* seconds."""
        return self.failed > 0 or self.wait_seconds >= slow


def total_of(origins: Iterable[OriginStats]) -> OriginStats:
    """The sums of all *origins*."""
    total = OriginStats("")
    for origin in origins:
        total.include(origin)
    return total


#: Fields that a line has in another form, and those for the page alone.
_NOT_IN_LINES = ("origin", "requests", "words", "file", "outlook")
#: Epoch seconds, which a line has as ISO 8601 in UTC, to the millisecond.
_TIMES = ("first_asked", "answered", "fetched", "wait_began", "pending_since", "next_attempt")


def report_lines(origins: Iterable[OriginStats]) -> Iterator[str]:
    """A JSON line for each origin, in printable ASCII."""
    from scrapy_robotspec.render.as_json import dumps, members  # most crawls write no report

    names = [each.name for each in fields(OriginStats) if each.name not in _NOT_IN_LINES]
    for row in origins:
        shown = members(row, *names)
        outlook = row.outlook
        shown["next_attempt"] = outlook and outlook.next_attempt
        for name in _TIMES:
            if shown[name] is not None:
                moment = datetime.fromtimestamp(shown[name], timezone.utc)
                shown[name] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for name in ("seconds", "wait_seconds"):
            shown[name] = round(shown[name], 3)
        line = {
            "origin": row.origin or None,
            "let_through": row.requests.in_group(Group.LET_THROUGH),
            "refused": row.requests.in_group(Group.REFUSED),
            "outcomes": row.requests.to_json(),
            **shown,
        }
        yield f"{dumps(line)}\n"
