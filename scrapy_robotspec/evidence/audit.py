"""Audit: judges requests by the robots.txt of their time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.evidence.run_reader import Reading, read_runs
from scrapy_robotspec.evidence.timeline import must_be_fetched, request_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.evidence.access_logs import Request
    from scrapy_robotspec.evidence.log_lines import Line
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.evidence.timeline import Timeline
    from scrapy_robotspec.lookup import Resolved

#: Seconds for which rules that were replaced still excuse a request: it may have been on its way.
TOLERANCE = 1.0
#: Max disallowed requests that are kept.
_MAX_ACCUSED = 100_000
#: Max logged length of a rule (characters).
_MAX_RULE = 200


class Disallowed(NamedTuple):
    """Why a request was disallowed."""

    origin: Origin
    reason: str
    line: int | None = None
    """Line of the rule, from 1."""
    rule: str = ""


class Logged(NamedTuple):
    """A line of the decision log."""

    file: str
    line: int
    """From 1."""
    values: Mapping[str, Any]


@dataclass(slots=True)
class Accused:
    """A disallowed request, with what the evidence says about it."""

    request: Request
    url: str
    why: Disallowed
    decision: Logged | None = None
    """The last decision before it."""
    left: float | None = None
    """When a page left by that decision (epoch seconds)."""
    is_excused: bool = False
    """Whether it is that page, and was allowed when it left."""

    @property
    def was_allowed(self) -> bool:
        """Whether it was allowed when it was decided."""
        return self.decision is not None and bool(self.decision.values["allowed"])


_ByKey = dict[str, list[Accused]]


class Audit:
    """Judges requests of a crawler with *tokens*, and counts.

    A request is allowed if any rules in force during its time, or *tolerance* seconds before,
    allow it: its time in the log is not exact, and the rules may have changed on its way. Redirects
    and probes of the crawl's own robots.txt fetches are allowed.
    """

    def __init__(
        self, timeline: Timeline, tokens: Sequence[str], tolerance: float = TOLERANCE
    ) -> None:
        self._timeline = timeline
        self._tokens = tuple(tokens)
        self._tolerance = tolerance
        self.requests = 0
        self.unknown = 0
        """Requests without evidence for their origin and time."""
        self.disallowed = 0
        self.accused: list[Accused] = []
        """The first disallowed requests."""

    def add(self, request: Request, origin: Origin | None, url: str) -> None:
        """Judge *request* for *url*, whose robots.txt is that of *origin*."""
        self.requests += 1
        if origin is None or must_be_fetched(url):
            return
        found, is_sure = None, True
        since, until = request.time - self._tolerance, self._end(request)
        for in_force in self._timeline.in_force(origin, since, until):
            is_sure &= in_force.is_sure
            if in_force.rules:
                found = self._judge(in_force.rules, url)
                if found is None:
                    return
        if self._timeline.was_fetched(url, since, until + self._tolerance):
            return
        if found is None or not is_sure:
            self.unknown += 1
            return
        self.disallowed += 1
        if len(self.accused) < _MAX_ACCUSED:
            self.accused.append(Accused(request, url, found))

    @property
    def rules(self) -> Counter[Disallowed]:
        """Numbers of accused requests."""
        return Counter(each.why for each in self.accused)

    def look_up(self) -> None:
        """Find the decisions about disallowed requests in the evidence, and excuse some.

        A page that left while it was allowed may reach the log of its site after the rules changed.
        """
        wanted: _ByKey = defaultdict(list)
        for each in self.accused:
            wanted[request_key(each.url)].append(each)
        if wanted:
            for reader, lines in read_runs(self._timeline.folder, Reading()):
                self._look_up(reader, lines, wanted)
        excused = sum(each.is_excused for each in self.accused)
        self.disallowed -= excused
        self.accused = [each for each in self.accused if not each.is_excused]

    def _look_up(self, reader: RunReader, lines: Iterator[Line], wanted: _ByKey) -> None:
        """Find the decisions of one run."""
        decided: dict[int, Logged] = {}
        for line in lines:
            values = line.values
            if values["type"] == "decision":
                for each in wanted.get(request_key(values["url"]), ()):
                    logged = decided[values["number"]] = Logged(reader.log, line.number, values)
                    self._note_decision(each, logged)
            elif values["type"] == "sent" and values["decision"] in decided:
                logged = decided.pop(values["decision"])
                for each in wanted[request_key(logged.values["url"])]:
                    self._note_sent(each, logged, values)

    def _note_decision(self, accused: Accused, logged: Logged) -> None:
        time, known = logged.values["time"], accused.decision
        if time <= self._end(accused.request) + self._tolerance and (
            known is None or known.values["time"] <= time
        ):
            accused.decision, accused.left = logged, None

    def _note_sent(self, accused: Accused, logged: Logged, sent: Mapping[str, Any]) -> None:
        """Excuse *accused* if it is the page *sent*, and was allowed at that moment."""
        left, late = sent["time"], self._tolerance
        request = accused.request
        if left - late <= self._end(request) and request.time <= left + sent["seconds"] + late:
            accused.decision, accused.left = logged, left
            ((rules, _),) = self._timeline.in_force(accused.why.origin, left, left)
            if logged.values["allowed"] and rules and self._judge(rules, accused.url) is None:
                accused.is_excused = True

    @staticmethod
    def _end(request: Request) -> float:
        """The last moment at which *request* may have been logged."""
        return max(request.time, nextafter(request.time + request.resolution, -inf))

    def _judge(self, rules: Sequence[Resolved], url: str) -> Disallowed | None:
        """Why the first of *rules* disallows *url*; None if some of them allow it."""
        decisions = [each.decide(url, self._tokens, 0.0) for each in rules]
        if any(each.allowed for each in decisions):
            return None
        origin, first = rules[0].origin, decisions[0]
        rule = None if first.verdict is None else first.verdict.rule
        if rule is None:
            return Disallowed(origin, first.reason)
        return Disallowed(origin, first.reason, rule.line, rule.text.strip()[:_MAX_RULE])


def absolute_url(url: str, base: str | None) -> str | None:
    """*url* with scheme and host; None where no host is known.

    *base* is the origin of a log that names none. An unknown scheme is that of *base*, else https.
    """
    if url.startswith("//"):
        scheme = "https" if base is None else base.partition(":")[0]
        return f"{scheme}:{url}"
    if url.startswith("/"):
        return None if base is None else base + url
    return url
