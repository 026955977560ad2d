"""The report of a crawl as a page without scripts or network.

It answers what was refused, what the crawl waits for, and what the robots.txt files gave. All else
is in the JSON lines.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import Group
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.text import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats

    #: Cells of a table; numbers are counts.
    Row = tuple[str | int, ...]

#: Waits that ended sooner are not shown (seconds).
SHORTEST_WAIT = 1.0
#: Max origins or URLs that are named beside a count.
MAX_NAMED = 3

#: Reason of a refusal without a line -> its words.
REASONS = {
    "rule": "by further rules",
    "unreachable": "because robots.txt was unreachable",
    "policy": "by ROBOTSPEC_STATUS_POLICY",
    "override": "by ROBOTSPEC_OVERRIDES",
    "usage": "for usage preferences",
}
#: Meaning of the latest answer -> its words.
_ANSWERS = {
    Meaning.RULES.value: "a file, whose rules decide",
    Meaning.ALLOW.value: "no file, all allowed",
    Meaning.DISALLOW.value: "refused by ROBOTSPEC_STATUS_POLICY",
    Meaning.UNREACHABLE.value: "unreachable",
}


def report_page(
    origins: Sequence[OriginStats],
    *,
    spider: str,
    started: float,
    now: float,
    finished: str | None,
    differences: Mapping[str, int] | None = None,
) -> str:
    """The page for a crawl of *spider*, of bounded size.

    The crawl may go on counting: each value that may become None again is read once.
    *started*, *now*: epoch seconds. *finished*: why the crawl has ended; None: it has not.
    *differences*: requests of a dry run, by how our decision compares with Scrapy's.
    """
    through = sum(each.requests.of(Group.LET_THROUGH) for each in origins)
    return render(
        "report.html",
        now=now,
        spider=spider,
        length=max(0.0, now - started),
        finished=finished,
        differences=differences,
        through=through,
        every=through + sum(each.requests.of(Group.REFUSED) for each in origins),
        tables=[
            ("Refused requests", ["Cause", "Origins", "Requests", "Examples"], refusals(origins)),
            (
                "Waits for a robots.txt",
                ["Origin", "Waited", "End", "Attempts", "Latest failure"],
                waits(origins, now),
            ),
            ("robots.txt files", ["Answer", "Origins", "Examples"], answers(origins)),
        ],
    )


def refusals(origins: Iterable[OriginStats]) -> list[Row]:
    """Refused requests by line or reason, the most frequent first."""
    found: dict[str, list[RefusalStats]] = {}
    for origin in origins:
        for refusal in origin.refused_by:
            found.setdefault(_cause(refusal), []).append(refusal)
    rows: list[Row] = []
    for cause, ones in found.items():
        examples = [one.examples[0] for one in ones[:MAX_NAMED] if one.examples]
        rows.append((cause, len(ones), sum(one.count for one in ones), ", ".join(examples)))
    return sorted(rows, key=itemgetter(2), reverse=True)


def _cause(refusal: RefusalStats) -> str:
    words = REASONS.get(refusal.reason, refusal.reason)
    if refusal.rule is None:
        return words
    rule = refusal.rule.partition("#")[0].strip()  # without its comment
    return rule if refusal.reason == "rule" else f"{rule} ({words})"


def waits(origins: Iterable[OriginStats], now: float) -> list[Row]:
    """The current or longest wait of each origin, pending ones first."""
    rows: list[tuple[tuple[bool, float], Row]] = []
    for each in origins:
        since = each.pending_since
        seconds = each.wait_seconds if since is None else max(0.0, now - since)
        is_unanswered = each.first_asked is not None and each.answered is None
        if since is not None:
            end = "pending"
        elif each.answer == Meaning.UNREACHABLE.value:
            end = "given up"
        else:
            end = "no answer" if is_unanswered else "answered"
        if seconds >= SHORTEST_WAIT or is_unanswered:
            row = each.origin, duration(seconds), end, each.asked, each.failure or "none"
            rows.append(((since is not None, seconds), row))
    return [row for _, row in sorted(rows, key=itemgetter(0), reverse=True)]


def answers(origins: Iterable[OriginStats]) -> list[Row]:
    """Origins by what their robots.txt gave, the most frequent first."""
    found: dict[str, list[str]] = {}
    for each in origins:
        found.setdefault(_answer(each), []).append(each.origin)
    rows: list[Row] = [
        (answer, len(names), ", ".join(names[:MAX_NAMED])) for answer, names in found.items()
    ]
    return sorted(rows, key=itemgetter(1), reverse=True)


def _answer(origin: OriginStats) -> str:
    if origin.answer is None:
        is_needed = not origin.overrides or origin.pending_since is not None
        return "no answer so far" if is_needed else "not requested, ROBOTSPEC_OVERRIDES decides"
    words, doubt, failure = _ANSWERS[origin.answer], origin.doubt, origin.failure
    if doubt is not None and origin.answer != Meaning.DISALLOW.value:
        return f"{doubt}, all allowed"
    if failure is not None:  # without what differs from host to host
        return f"{words} ({failure.partition(':')[0]})"
    return f"{words} (HTTP status {origin.status})"
