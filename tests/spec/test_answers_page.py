"""The tables of ``docs/waiting.md`` about responses say what the policy does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.editions import EDITIONS
from tests.unit.access.simulation import (
    DAY,
    DEAD,
    DOWN,
    FILE,
    HOUR,
    MINUTE,
    ORIGIN,
    START,
    Life,
    policy,
)

PAGE = (Path(__file__).parents[2] / "docs" / "waiting.md").read_text("utf-8")
HTML = b"<!DOCTYPE html><html><body>Hello</body></html>"

#: The first cell of a row, and the responses that it names.
RESPONSES = {
    "2xx with a robots.txt": [FILE],
    "2xx with another file": [FetchResult(status=200, body=HTML), FetchResult(status=202)],
    "3xx that leads nowhere, 404, 410": [
        FetchResult(status=302, redirect_error="too many redirects"),
        *(FetchResult(status=status) for status in (404, 410)),
    ],
    "any other 4xx": [FetchResult(status=status) for status in (400, 401, 403, 451)],
    "408, 421, 425": [FetchResult(status=status) for status in (408, 421, 425)],
    "429": [FetchResult(status=429)],
    "5xx, 304, a named challenge": [
        DOWN,
        *(FetchResult(status=status) for status in (304, 500, 520, 600)),
        FetchResult(status=403, headers={"cf-mitigated": "challenge"}),
        replace(FILE, complete=False),
    ],
    "none, 407, 511": [DEAD, FetchResult(status=407), FetchResult(status=511)],
}
OTHERS = [name for name in EDITIONS if name != "google"]
#: Values of header fields -> seconds that the file is fresh.
LIFETIMES: dict[str, dict[str, str]] = {
    "none": {},
    "`Cache-Control: max-age=300`, `Age: 600`": {"cache-control": "max-age=300", "age": "600"},
    "`Cache-Control: max-age=3600`, `Age: 600`": {"cache-control": "max-age=3600", "age": "600"},
    "`max-age=600` and `max-age=7200`": {"cache-control": "max-age=600, max-age=7200"},
    "`s-maxage=600, max-age=7200`": {"cache-control": "s-maxage=600, max-age=7200"},
    '`max-age="7200"`': {"cache-control": 'max-age="7200"'},
    "`max-age=604800`": {"cache-control": "max-age=604800"},
    "`no-store`, or `no-cache`": {"cache-control": "no-store"},
    "`Expires` in two hours, without a zone": {"expires": "Fri, 15 Jan 2027 10:00:00"},
    "`Expires: 0`": {"expires": "0"},
}


def in_words(seconds: float) -> str:
    """*seconds* to the half of a day, or to the unit."""
    if seconds > DAY:
        return f"{round(2 * seconds / DAY) / 2:g} days"
    for unit, name in ((HOUR, "h"), (MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:g} s"


def stages(edition: str, answer: FetchResult, *, copy: bool) -> str:
    """What requests meet while an origin answers like this for 32 days."""
    life = Life(policy(edition), lambda now: FILE if copy and now < START else answer)
    if copy:
        life.now = START - 2 * DAY
        life.ask()
        life.now = START
    actions = [*life.live(10, 0.5), *life.live(10 * MINUTE, 10), *life.live(32 * DAY, HOUR)]
    shown: list[str] = []
    before = ""
    for at, action in actions:
        if action != before:
            shown.append(f"{action} after {in_words(at)}" if at else action)
        before = action
    return ", ".join(shown)


def lifetime(answer: FetchResult) -> str:
    """How long requests are decided by a response without another attempt."""
    record = policy().apply(None, ORIGIN, answer, START, 0.0)
    assert record.lifetime is not None
    return in_words(record.lifetime)


def row(name: str) -> str:
    """The row of the responses, which all of them have."""
    (cells,) = {
        tuple(
            stages(edition, answer, copy=copy)
            for edition in (other, "google")
            for copy in (False, True)
        )
        for answer in RESPONSES[name]
        for other in OTHERS
    }
    plain, with_copy, google, google_copy = cells
    if google == plain and google_copy == with_copy:
        google = google_copy = "the same"
    return f"| {name} | {plain} | {with_copy} | {google} | {google_copy} |"


@pytest.mark.parametrize("name", RESPONSES)
def test_the_page_says_what_a_response_means(name: str) -> None:
    """FET-02 to FET-20."""
    assert row(name) in PAGE


@pytest.mark.parametrize("name", LIFETIMES)
def test_the_page_says_how_long_a_file_is_fresh(name: str) -> None:
    """CAC-01, CAC-03."""
    assert f"| {name} | {lifetime(replace(FILE, headers=LIFETIMES[name]))} |" in PAGE


def test_the_page_says_how_long_other_responses_are_kept() -> None:
    """CAC-06, FET-20."""
    kept = {
        name: {lifetime(replace(each, headers={})) for each in RESPONSES[name]}
        for name in list(RESPONSES)[1:4]
    }
    brief, missing, denied = kept.values()
    assert (brief, missing, denied) == ({"1 h"}, {"24 h"}, {"1 h"})
    assert "Another file, and a 4xx other than 404 and 410, live 1 h" in PAGE


def test_the_page_has_no_other_rows() -> None:
    section = PAGE.partition("## What a response means")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) == len(RESPONSES) + len(LIFETIMES) + 2
