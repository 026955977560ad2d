"""Timeline: the rules in force for an origin at a moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.run_reader import Reading, read_runs
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.lookup import Resolved

#: Actions that let rules or a policy decide.
_USABLE = (Action.RULES, Action.ALLOW, Action.DISALLOW)
#: A killed process may have written nothing for this long before its last request (seconds).
_LOST = 10.0


class InForce(NamedTuple):
    """The rules in force for an origin during some time."""

    rules: tuple[Resolved, ...]
    """Those of the newest copy, and of the other crawls that ran; none: unknown."""
    is_sure: bool
    """Whether no crawl may have fetched others, and lost its last lines."""


class Timeline:
    """The states of every origin in an evidence folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reading = Reading()
        self.tokens: set[tuple[str, ...]] = set()
        """The product tokens of each decision."""
        self._runs: list[RunReader] = []
        self._bounds = [math.inf]
        """When a run began or ended, or may have lost lines; sorted."""
        self._states: dict[Origin, dict[RunReader, list[tuple[float, str]]]] = {}
        """Time and id of each state, sorted."""
        self._fetches: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """Begin and end of each archived exchange whose URL is not that of a robots.txt."""

    @classmethod
    def read(cls, folder: Path) -> Timeline:
        """Read and check every run in *folder*."""
        timeline = cls(folder)
        for reader, lines in read_runs(folder, timeline.reading):
            timeline._runs.append(reader)
            for line in lines:
                timeline._add(reader, line.values)
        for reader in timeline._runs:
            reader.max_bytes //= len(timeline._runs)
            ends = (reader.end - 1.0, reader.end, reader.end + _LOST)
            timeline._bounds += (reader.start, *ends)
        timeline._bounds.sort()
        for held in timeline._states.values():
            for states in held.values():
                states.sort(key=itemgetter(0))
        return timeline

    def was_fetched(self, url: str, since: float, until: float) -> bool:
        """Whether a robots.txt fetch requested *url* during that time."""
        fetches = self._fetches.get(request_key(url), ())
        return any(began <= until and since <= ended for began, ended in fetches)

    def in_force(self, origin: Origin, since: float, until: float) -> Iterator[InForce]:
        """The rules in force for *origin*, one after another (epoch seconds)."""
        time = since
        while time <= until:
            found, time = self._at(origin, time)
            yield found

    def _at(self, origin: Origin, time: float) -> tuple[InForce, float]:
        """The rules in force for *origin* at *time*, and until when at least."""
        until, held = self._bounds[bisect_right(self._bounds, time)], []
        for run, states in self._states.get(origin, {}).items():
            at = bisect_right(states, time, key=itemgetter(0))
            until = min([until, *(start for start, _ in states[at : at + 1])])
            if at and not (run.is_torn and time >= run.end):
                held.append((*states[at - 1], run))
        usable: list[Resolved] = []
        failed: list[Resolved] = []
        for _, id_, run in sorted(held, key=itemgetter(0), reverse=True):
            # The newest copy lives on when its run has ended; others count while theirs runs.
            if usable and not run.start <= time < run.end:
                continue
            with run.noting(id_):
                found = run.states.resolved(id_, origin, time)
                until = min(until, found.valid_until)
                if found.action in _USABLE:
                    usable.append(found)
                elif found.reason == "unreachable":
                    failed.append(found)
        is_sure = not any(
            run.is_torn and run.end - 1.0 <= time < run.end + _LOST for run in self._runs
        )
        return InForce(tuple(usable or failed[:1]), is_sure), until

    def _add(self, run: RunReader, values: Mapping[str, Any]) -> None:
        kind = values["type"]
        if kind == "state":
            with run.noting(values["id"]):
                record = State.from_values(values).record
                states = self._states.setdefault(record.origin, {}).setdefault(run, [])
                states.append((record.updated_at, values["id"]))
        elif kind == "record" and not must_be_fetched(values["url"]):
            times = values.get("began") or values["time"], values["time"]
            self._fetches[request_key(values["url"])].append(times)
        elif kind == "decision" and values["tokens"]:  # none where no rules were asked for
            self.tokens.add(tuple(values["tokens"]))


def request_key(url: str) -> str:
    """*url* as requests of it are compared: origin, path and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{Origin.of(url)}{parts.path or '/'}?{parts.query}"


def must_be_fetched(url: str) -> bool:
    """Whether *url* is a robots.txt, which a crawler has to request."""
    return is_robots_txt(url.partition("?")[0])
