"""Audit: judges requests by the robots.txt of their time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.evidence.access_logs import Request
    from scrapy_robotspec.evidence.timeline import InForce, Timeline

#: Seconds for which rules that were replaced still excuse a request: it may have been on its way.
TOLERANCE = 1.0
#: Max origins whose rules in force are remembered.
_MAX_ORIGINS = 1000
#: Max rules that are counted one by one.
_MAX_RULES = 10_000
#: Max logged length of a rule (characters).
_MAX_RULE = 200


class Disallowed(NamedTuple):
    """Why a request was disallowed."""

    origin: str
    reason: str
    line: int | None = None
    """Line of the rule, from 1."""
    rule: str = ""


class Audit:
    """Judges requests of a crawler with *tokens*, and counts.

    A request is allowed if any rules in force during its time, or *tolerance* seconds before,
    allow it: its time in the log is not exact, and the rules may have changed on its way.
    """

    def __init__(
        self, timeline: Timeline, tokens: Sequence[str], tolerance: float = TOLERANCE
    ) -> None:
        self._timeline = timeline
        self._tokens = tuple(tokens)
        self._tolerance = tolerance
        self._last: dict[Origin, InForce] = {}
        self.requests = 0
        self.unknown = 0
        """Requests without evidence for their origin and time."""
        self.disallowed = 0
        self.rules: Counter[Disallowed] = Counter()
        self.examples: dict[Disallowed, str] = {}
        """The first URL that each rule disallowed."""

    def add(self, request: Request, origin: Origin | None, url: str) -> None:
        """Judge *request* for *url*, whose robots.txt is that of *origin*."""
        self.requests += 1
        if origin is None or is_robots_txt(url):
            return
        found: Disallowed | None = None
        for rules in self._in_force(origin, request):
            if rules.action is None:
                continue
            found = self._judge(rules, origin, url)
            if found is None:
                return
        if found is None:
            self.unknown += 1
            return
        self.disallowed += 1
        if found in self.rules or len(self.rules) < _MAX_RULES:
            self.rules[found] += 1
            self.examples.setdefault(found, url)

    def _in_force(self, origin: Origin, request: Request) -> Iterator[InForce]:
        """The rules in force during the time that *request* may have been sent in."""
        time, end = request.time - self._tolerance, request.time + request.resolution
        rules = self._last.get(origin)
        while True:
            if rules is None or not rules.since <= time < rules.until:
                if len(self._last) >= _MAX_ORIGINS:
                    self._last.clear()
                rules = self._last[origin] = self._timeline.in_force(origin, time)
            yield rules
            time = rules.until
            if time > end or (time == end and request.resolution):
                return

    def _judge(self, rules: InForce, origin: Origin, url: str) -> Disallowed | None:
        """Why *rules* disallow *url*; None if they allow it."""
        if rules.robots is not None:
            verdict = rules.robots.explain_served(url, self._tokens)
            if verdict.allowed:
                return None
            rule = verdict.rule
            assert rule is not None  # only a rule disallows
            return Disallowed(origin, "rule", rule.line, rule.text.strip()[:_MAX_RULE])
        if rules.action is Action.ALLOW:
            return None
        return Disallowed(origin, rules.reason)


def is_robots_txt(url: str) -> bool:
    """Whether *url* is a robots.txt, which a crawler has to request."""
    return "/robots.txt" in url and urlsplit(url).path == "/robots.txt"


def absolute_url(url: str, timeline: Timeline, base: str | None) -> str | None:
    """*url* with scheme and host; None where no host is known.

    *base* is the origin of a log that names none. An unknown scheme is the one there is evidence
    for, else that of *base*, else https.
    """
    if url.startswith("//"):
        preferred = "https" if base is None else base.partition(":")[0]
        for scheme in (preferred, "https", "http"):
            origin = Origin.of(f"{scheme}:{url}")
            if origin is not None and origin in timeline:
                return f"{scheme}:{url}"
        return f"{preferred}:{url}"
    if url.startswith("/"):
        return None if base is None else base + url
    return url
