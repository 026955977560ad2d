"""Audit: planted violations are all found, and none is invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence import audit as audit_module
from scrapy_robotspec.evidence import run_reader
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.audit import Accused, Audit, InForce, Timeline
from scrapy_robotspec.evidence.log_lines import RULES as RULES_VERSION
from scrapy_robotspec.evidence.log_lines import dumps
from tests.support.evidence import RULES, START, TOKENS, Crawl, audited, run_settings

SITE = "https://example.com"
SITE_ORIGIN = cast(Origin, Origin.of(SITE))
NO = f"{SITE}/private/x"
HOUR, DAY = 3600.0, 86400.0


def one(folder: Path, time: float, url: str = NO, resolution: float = 0.0) -> str:
    """The audit of one request."""
    audit = audited(folder, [(START + time, url)], resolution)
    return "disallowed" if audit.disallowed else "unknown" if audit.unknown else "allowed"


def test_an_unreachable_file_forbids_until_it_is_back(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"", 503)
    crawl.fetch(SITE, b"", 200, START + 30)
    crawl.fetch("https://missing.example", b"", 404)
    crawl.close()
    page = f"{SITE}/"
    assert one(tmp_path, 10, page) == "disallowed"
    (accused,) = audited(tmp_path, [(START + 10, page)]).accused
    assert accused.why.reason == "unreachable"
    assert one(tmp_path, 40, page) == "allowed"
    assert one(tmp_path, 10, "https://missing.example/private/") == "allowed"


@pytest.mark.parametrize("others", [0, 8, 98])
def test_of_two_states_of_one_moment_the_later_line_counts(tmp_path: Path, others: int) -> None:
    """Whatever their numbers: a crawl may take over another's state and replace it at once."""
    crawl = Crawl(tmp_path)
    for number in range(others):
        crawl.fetch(f"https://{number}.example")
    crawl.fetch(SITE, b"", 503)
    crawl.fetch(SITE, b"", 200)
    crawl.close()
    assert one(tmp_path, 10) == "allowed"


@pytest.mark.parametrize(("rules", "found"), [(RULES_VERSION, "disallowed"), (99, "unknown")])
def test_a_page_that_other_rules_let_through_is_unknown(
    tmp_path: Path, rules: int, found: str
) -> None:
    """A release that reads the file otherwise has no ground to accuse it."""
    crawl = Crawl(tmp_path, header={"rules": rules})
    crawl.fetch(SITE)
    crawl.decide(NO, START + 1, allowed=True)
    crawl.send(START + 2)
    crawl.decide(f"{NO}/y", START + 3)
    crawl.close()
    audit = audited(tmp_path, [(START + 2, NO), (START + 3, f"{NO}/y"), (START + 4, f"{NO}/z")])
    audit.look_up()
    assert (audit.disallowed, audit.unknown) == ((3, 0) if found == "disallowed" else (2, 1))
    assert NO not in {each.url for each in audit.accused} or found == "disallowed"


def test_a_robots_txt_is_no_violation_and_never_unknown(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"User-agent: *\nDisallow: /\n")
    crawl.close()
    for time in (-5, 5):
        assert one(tmp_path, time, f"{SITE}/robots.txt") == "allowed"
    assert one(tmp_path, 5, f"{SITE}/robots.txt?x") == "allowed"
    assert one(tmp_path, 5, f"{SITE}/a/robots.txt") == "disallowed"


def test_rules_replaced_a_moment_ago_still_excuse_a_request(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"")
    crawl.fetch(SITE, RULES, at=START + HOUR + 0.5)
    crawl.close()
    assert one(tmp_path, HOUR, resolution=1) == "allowed"
    assert one(tmp_path, HOUR + 1.4) == "allowed"
    assert one(tmp_path, HOUR + 1.6) == "disallowed"
    assert one(tmp_path, HOUR + 3, resolution=1) == "disallowed"


def test_a_log_with_whole_seconds_knows_the_file_fetched_within_its_second(
    tmp_path: Path,
) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, at=START + 0.9)
    crawl.close()
    assert one(tmp_path, 0, f"{SITE}/", resolution=1) == "allowed"
    assert one(tmp_path, 0, resolution=1) == "disallowed"
    assert one(tmp_path, -1, resolution=1) == "unknown"


def test_of_two_crawls_the_newest_copy_counts(tmp_path: Path) -> None:
    """An outage that one crawl saw does not make the other's requests violations."""
    first = Crawl(tmp_path)
    first.fetch(SITE)
    first.close()
    second = Crawl(tmp_path, "20260131T130000Z-2-abcdef00")
    second.fetch(SITE, b"", 503, START + HOUR)
    second.fetch(SITE, b"", 200, START + 2 * HOUR)
    second.close()
    assert one(tmp_path, HOUR + 10) == "disallowed"
    assert one(tmp_path, HOUR + 10, f"{SITE}/") == "allowed"
    assert one(tmp_path, 2 * HOUR + 10) == "allowed"


def test_a_copy_that_expires_on_the_way_of_a_request_may_excuse_it(tmp_path: Path) -> None:
    """Refreshing it has failed, and the policy allows all during outages."""
    policy = run_settings(ttl=600.0, max_ttl=600.0, min_ttl=1.0, unreachable="allow")
    crawl = Crawl(tmp_path, settings=policy)
    crawl.fetch(SITE)
    crawl.fetch(SITE, b"", 503, START + 580)
    crawl.close()
    assert one(tmp_path, 598) == "disallowed"
    assert one(tmp_path, 600.5) == "allowed"


@pytest.mark.parametrize(("bound", "word", "read"), [(3, "unknown", 3), (20, "disallowed", 10)])
def test_changes_during_one_request_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: int, word: str, read: int
) -> None:
    """SAF-05: states are not multiplied with requests."""
    crawl = Crawl(tmp_path)
    for number in range(10):
        crawl.take_over(SITE, RULES, START, START + number / 10)
    crawl.close()
    times: list[float] = []

    class Counted(Timeline):
        def _at(self, origin: Origin, time: float) -> InForce:
            times.append(time)
            return super()._at(origin, time)

    monkeypatch.setattr("scrapy_robotspec.evidence.audit._MAX_CHANGES", bound)
    monkeypatch.setattr("tests.support.evidence.Timeline", Counted)
    assert one(tmp_path, 1) == word
    assert len(times) == read


def test_the_policy_of_the_crawl_holds(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, settings=run_settings(ttl=600.0, max_ttl=600.0, min_ttl=1.0))
    crawl.fetch(SITE)
    crawl.close()
    assert one(tmp_path, 590) == "disallowed"
    assert one(tmp_path, 610) == "unknown"


BODIES = (b"", RULES, b"User-agent: *\nDisallow: /\n", b"User-agent: *\nDisallow: /other\n")
PATHS = ("/", "/private/x", "/other")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(10, 2 * 86400), st.sampled_from(BODIES)), max_size=6),
    st.lists(st.tuples(st.integers(-5, 4 * 86400), st.sampled_from(PATHS)), max_size=20),
)
def test_every_verdict_is_that_of_a_simple_search(
    tmp_path: Path, fetches: list[tuple[int, bytes]], requests: list[tuple[int, str]]
) -> None:
    """The newest copy fetched before, if it is younger than a day; else unknown."""
    from scrapy_robotspec import RobotsTxt

    folder = tmp_path / f"{hash((tuple(fetches), tuple(requests)))}"
    if folder.exists():
        return
    at, known = 0, []
    crawl = Crawl(folder)
    for pause, body in fetches:
        at += pause
        crawl.fetch(SITE, body, at=START + at)
        known.append((at, body))
    crawl.close()
    disallowed = unknown = 0
    asked = []
    for time, path in requests:
        if any(time - 2 <= moment + late <= time for moment, _ in known for late in (0, 86400)):
            continue  # within the tolerance
        asked.append((START + time, SITE + path))
        copies = [(moment, body) for moment, body in known if moment <= time < moment + 86400]
        if not copies:
            unknown += 1
        elif not RobotsTxt.parse(copies[-1][1]).allowed(SITE + path, TOKENS):
            disallowed += 1
    audit = audited(folder, asked)
    assert (audit.requests, audit.disallowed, audit.unknown) == (len(asked), disallowed, unknown)


# --- an honest crawl is not accused


def test_rules_of_a_run_without_an_end_are_unknown_after_its_last_line(tmp_path: Path) -> None:
    """A killed process may have lost the lines of what it fetched and sent last."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"", 503)
    crawl.fetch("https://other.example", at=START + 100)
    crawl.writer.flush()
    page = f"{SITE}/"
    assert one(tmp_path, 50, page) == "disallowed"
    assert one(tmp_path, 100.5, page) == "unknown"
    assert one(tmp_path, 1000, NO) == "unknown"


def test_of_two_crawls_that_run_each_may_follow_its_own_copy(tmp_path: Path) -> None:
    first = Crawl(tmp_path)
    first.fetch(SITE, b"")
    second = Crawl(tmp_path, "20260131T130000Z-2-abcdef00")
    second.fetch(SITE, at=START + 10)
    first.close(START + 100)
    second.close(START + 100)
    assert one(tmp_path, 50) == "allowed"
    assert one(tmp_path, 200) == "disallowed"


def test_rules_of_another_process_hold_from_the_moment_they_were_taken_over(
    tmp_path: Path,
) -> None:
    """Not from their fetch: a page that left in between was allowed."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"")
    crawl.take_over(SITE, RULES, fetched_at=START + 50, at=START + 200)
    crawl.close(START + 300)
    assert [one(tmp_path, time) for time in (40, 100, 199, 202)] == [*["allowed"] * 3, "disallowed"]


def settled(folder: Path, time: float) -> Audit:
    """The audit of one request, compared with the decisions."""
    audit = audited(folder, [(START + time, NO)])
    audit.look_up()
    return audit


def changing(folder: Path, *, left: float) -> None:
    """A page is decided, leaves *left* seconds later, and the rules forbid it 10 s later."""
    crawl = Crawl(folder)
    crawl.fetch(SITE, b"")
    crawl.decide(NO, START + 1)
    if left > 10:
        crawl.fetch(SITE, at=START + 11)
    crawl.send(START + 1 + left, seconds=30.0)
    if left <= 10:
        crawl.fetch(SITE, at=START + 11)
    crawl.close()


def test_a_page_that_left_while_it_was_allowed_is_excused(tmp_path: Path) -> None:
    """The log of the site may name the end of a slow response."""
    changing(tmp_path, left=5)
    audit = settled(tmp_path, 20)
    assert (audit.disallowed, audit.accused) == (0, [])
    assert settled(tmp_path, 100).disallowed == 1


@pytest.mark.parametrize(("jump", "disallowed"), [(None, 1), (-60.0, 0)])
def test_a_page_is_unknown_where_the_clock_was_set(
    tmp_path: Path, jump: float | None, disallowed: int
) -> None:
    """The rules seem to come before the page, but hold for a moment that was there twice."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"", at=START + 100)
    crawl.decide(NO, START + 105)
    crawl.send(START + 105)
    if jump is not None:
        crawl.writer.add_line(dumps({"type": "clock", "time": START + 46, "jump": jump}))
    crawl.fetch(SITE, RULES, at=START + 102.5)
    crawl.close(START + 110)
    timeline = Timeline(tmp_path)
    assert bool(timeline.reading.problems) is (jump is None)
    audit = settled(tmp_path, 105)
    assert (audit.disallowed, audit.unknown) == (disallowed, 1 - disallowed)


def test_a_page_that_left_after_the_rules_had_changed_names_both_moments(tmp_path: Path) -> None:
    """CAC-07."""
    changing(tmp_path, left=15)
    (accused,) = settled(tmp_path, 17).accused
    assert accused.decision is not None
    assert accused.decision.values["allowed"]
    assert accused.decision.values["time"] == START + 1
    assert accused.decision.line == 5
    assert accused.left == START + 16


@pytest.mark.parametrize(
    ("time", "found"), [(12, (0, 1)), (20, (0, 1)), (21, (0, 1)), (22.5, (1, 0)), (50, (1, 0))]
)
def test_a_page_that_another_middleware_answered_is_in_doubt_until_then(
    tmp_path: Path, time: float, found: tuple[int, int]
) -> None:
    """It may have been sent at any time since its decision, and nothing says when."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"")
    crawl.decide(NO, START + 1)
    crawl.fetch(SITE, at=START + 10)
    answered = {"type": "answered", "time": START + 21, "decision": 1, "status": 200}
    crawl.writer.add_line(dumps(answered))
    crawl.close()
    audit = settled(tmp_path, time)
    assert (audit.disallowed, audit.unknown) == found


def test_both_readings_of_a_url_with_dot_segments_count(tmp_path: Path) -> None:
    """PAT-15."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    crawl.close()
    assert one(tmp_path, 10, f"{SITE}/x/../private/x") == "disallowed"


def test_disallowed_requests_are_kept_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are counted."""
    monkeypatch.setattr("scrapy_robotspec.evidence.audit._MAX_ACCUSED", 2)
    crawl = Crawl(tmp_path)
    crawl.fetch("https://example.com", RULES)
    crawl.close()
    url = "https://example.com/private/x"
    audit = audited(tmp_path, [(START + second, url) for second in range(5)])
    assert (audit.disallowed, len(audit.accused)) == (5, 2)


def test_a_decision_is_compared_with_few_requests_for_its_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that a crawler asks for every minute is in both logs thousands of times."""
    ends: list[Accused] = []

    def noted(accused: Accused) -> float:
        ends.append(accused)
        return accused.end

    monkeypatch.setattr("scrapy_robotspec.evidence.audit._end_of", noted)
    crawl, page = Crawl(tmp_path), f"{SITE}/private/x"
    crawl.fetch(SITE)
    for minute in range(1, 201):
        crawl.decide(page, START + 60 * minute, allowed=True)
        crawl.send(START + 60 * minute)
    crawl.close()
    requests = [
        (START + 60 * minute + second, page) for minute in range(1, 201) for second in (0, 9)
    ]
    audit = audited(tmp_path, requests, 1.0)
    audit.look_up()
    assert len(audit.accused) == 400
    assert [each.decision and each.decision.line for each in audit.accused][:4] == [5, 5, 7, 7]
    assert [each.left for each in audit.accused][:2] == [START + 60, None]
    assert len(ends) < 10_000


def test_an_audit_judges_by_its_own_tokens_whatever_a_decision_names(tmp_path: Path) -> None:
    """A folder could name those of another crawler, which may fetch the page."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, b"User-agent: otherbot\nDisallow:\n\n" + RULES)
    crawl.decide(NO, START + 1, allowed=True, tokens=["otherbot"])
    crawl.send(START + 1)
    crawl.close()
    audit = audited(tmp_path, [(START + 1.1, NO)])
    audit.look_up()
    assert audit.disallowed == 1


def test_a_page_that_was_long_on_its_way_is_judged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each request for its URL that may be it."""
    judged: list[str] = []
    judge = Audit._judge

    def counted(audit: Audit, rules: Any, url: str) -> Any:
        judged.append(url)
        return judge(audit, rules, url)

    monkeypatch.setattr(Audit, "_judge", counted)
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    for second in range(100):
        crawl.decide(NO, START + second, allowed=True)
        crawl.send(START + second, seconds=1e6)
    crawl.close()
    audit = audited(tmp_path, [(START + 1_000 + second, NO) for second in range(100)])
    audit.look_up()
    assert audit.disallowed == 100
    assert len(judged) == 200


def many_runs(folder: Path, number: int) -> None:
    """Runs of one origin, one after another, of which every second disallows."""
    for each in range(number):
        crawl = Crawl(folder, f"20260131T12{each:04}Z-{each}-abcdef00")
        body = RULES if each % 2 else b"# %d\n" % each
        crawl.fetch(SITE, body, 200, START + each * HOUR)
        crawl.close()


def test_looks_at_runs_are_bounded_by_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-05: a folder of many runs and a log without an order; the rest is unknown."""
    many_runs(tmp_path, 6)
    monkeypatch.setattr(audit_module, "_MIN_LOOKS", 20)
    monkeypatch.setattr(audit_module, "_LOOKS_PER_STATE", 0)
    monkeypatch.setattr(audit_module, "_LOOKS_PER_REQUEST", 0)
    monkeypatch.setattr(audit_module, "_LOOKS_PER_PARSE", 1)
    timeline = Timeline(tmp_path)
    audit = Audit(timeline, TOKENS, 0.0)
    for number in range(20):
        audit.add(
            Request(START + 5 * HOUR + 60 - number % 2 * 4 * HOUR, 0.0, True, NO), SITE_ORIGIN, NO
        )
    assert 0 < audit.disallowed < 20
    assert audit.disallowed + audit.unknown == 20
    assert "further requests are unknown" in timeline.reading.notes[-1]


def test_the_time_for_the_log_does_not_count(tmp_path: Path) -> None:
    """A day of a large site takes longer than any evidence may, and accuses no evidence."""
    many_runs(tmp_path, 6)
    timeline = Timeline(tmp_path)
    before = list(timeline.reading.problems)
    audit = Audit(timeline, TOKENS, 0.0)
    with patch.object(run_reader, "process_time", return_value=1e9):
        for number in range(6):
            audit.add(Request(START + number * HOUR + 60, 0.0, True, NO), SITE_ORIGIN, NO)
    assert (audit.disallowed, audit.unknown) == (3, 0)
    assert timeline.reading.problems == before


def test_requests_in_order_look_at_the_runs_once(tmp_path: Path) -> None:
    """The rules in force until their next change are kept."""
    many_runs(tmp_path, 4)
    timeline = Timeline(tmp_path)
    audit = Audit(timeline, TOKENS, 0.0)
    moment = START + 3 * HOUR + 60
    audit.add(Request(moment, 0.0, True, NO), SITE_ORIGIN, NO)
    before = timeline.looks
    for number in range(100):
        audit.add(Request(moment + number, 0.0, True, NO), SITE_ORIGIN, NO)
    assert audit.disallowed == 101
    assert timeline.looks == before + 100 * 99  # a hundred more each, less the one in force


def test_the_same_rules_of_a_fleet_are_judged_once(tmp_path: Path) -> None:
    crawls = [Crawl(tmp_path, f"20260131T12000{each}Z-{each}-abcdef00") for each in range(5)]
    for crawl in crawls:
        crawl.fetch(SITE)
    for crawl in crawls:
        crawl.close()
    (found,) = Timeline(tmp_path).in_force(SITE_ORIGIN, START + 0.5, START + 0.5)
    assert (len(found.rules), found.is_sure) == (1, True)
