"""The account of a crawl by each view and by the servers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scrapy_robotspec.access.account import ANSWERED
from scrapy_robotspec.access.reasons import OUTCOMES, Group
from tests.support.command_line import validator
from tests.support.crawl import Result
from tests.support.server import Site

#: The outcomes of one group, by its name.
NAMES = {group: [name for name, row in OUTCOMES.items() if row.group is group] for group in Group}


#: Counts beside the outcomes.
MARKS = ("after_sending", ANSWERED, "not_sent")
#: The words of groups and marks in the log, by name.
_WORDS = {
    **{group.name.lower(): group.value for group in Group},
    "after_sending": "of them after sending",
    ANSWERED: "answered by a middleware",
    "not_sent": "not sent",
}


def summed_up(result: Result) -> Counter[str]:
    """The log's lines of requests, by group and mark."""
    found = Counter[str]()
    for line in result.log.splitlines():
        for name, words in _WORDS.items() if line.startswith("requests  ") else ():
            if shown := re.search(rf"([\d,]+) {words}", line):
                found[name] += int(shown[1].replace(",", ""))
    return found


def grouped(outcomes: Counter[str]) -> Counter[str]:
    """Requests by outcome and mark as the log sums them up."""
    groups = Counter(
        {group.name.lower(): sum(outcomes[name] for name in NAMES[group]) for group in Group}
    )
    return +(groups + Counter({mark: outcomes[mark] for mark in MARKS}))


def evidenced(folder: Path) -> Counter[str]:
    """The last lines of all logs of decisions, by outcome and mark.

    A crawl that is stopped before its spider opens writes none.
    """
    total = Counter[str]()
    for log in folder.glob("decisions-*.jsonl"):
        last = json.loads(log.read_text().splitlines()[-1])
        total.update(last["requests"] if last["type"] == "end" else {})
    return total


def reported(path: Path) -> Counter[str]:
    """The sum of a report's JSON lines, by outcome and mark."""
    total = Counter[str]()
    for row in map(json.loads, path.read_text().splitlines()):
        validator("report").validate(row)
        total.update(row["outcomes"])
        outcomes = row["outcomes"]
        for group in (Group.LET_THROUGH, Group.REFUSED):
            assert row[group.name.lower()] == sum(outcomes[name] for name in NAMES[group]), row
        assert all(number >= 0 for number in outcomes.values()), row
    return total


def origins_differ(result: Result, path: Path) -> bool:
    """Whether the log counts other origins than the report lists.

    Origins whose requests are all exempt have a row, and no robots.txt.
    """
    replaced = {"ignore", "disallow", "robots_txt"}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    listed = [row for row in rows if row["answer"] or replaced & row["overrides"].keys()]
    return {f"origins {len(listed)}"} != {
        " ".join(line.split()[:2]) for line in result.log.splitlines() if line.startswith("origins")
    }


def sent(outcomes: Counter[str]) -> int:
    """The number of pages that were seen leaving."""
    groups = grouped(outcomes)
    may_leave = groups["let_through"] + groups["not_checked"] + groups["after_sending"]
    return may_leave - groups["not_sent"] - groups[ANSWERED]


def stats_differ(stats: Mapping[str, Any], outcomes: Counter[str]) -> bool:
    """Whether a finished crawl's stats count otherwise than its report."""
    unreachable = outcomes["refused_unreachable"]
    expected = {
        "robotstxt/forbidden": grouped(outcomes)["refused"] - unreachable,
        "robotspec/unreachable": unreachable,
        "robotspec/unchecked": outcomes["dont_obey_robotstxt"],
        "robotspec/waiting": 0,
        "robotspec/pending": 0,
    }
    return {name: stats.get(name, 0) for name in expected} != expected


def check(result: Result, path: Path, sites: Iterable[Site]) -> Counter[str]:
    """Compare all views, and the servers' log; return the outcomes."""
    outcomes = reported(path)
    assert grouped(outcomes) == summed_up(result)
    signals = Counter(f"refused_{event['reason']}" for event in result.of("refused"))
    assert signals == {name: outcomes[name] for name in NAMES[Group.REFUSED] if outcomes[name]}
    assert not stats_differ(result.stats, outcomes)
    assert not origins_differ(result, path)
    assert sent(outcomes) == sum(len(site.pages_asked) for site in sites)
    return +outcomes
