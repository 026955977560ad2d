"""Sequence: an owner who seals all lines again is still caught by lines that contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.evidence.audit import Timeline
from scrapy_robotspec.evidence.log_lines import RULES as RULES_VERSION
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.replay import replay
from scrapy_robotspec.evidence.warc import NewRecord
from tests.support.evidence import (
    RULES,
    START,
    Crawl,
    asked_for,
    lines_of,
    run_settings,
    write_lines,
)

SITE = "https://example.com"
NO = f"{SITE}/private/x"
DAY = 86400.0

Lines = list[dict[str, Any]]
#: Changes the lines of :func:`honest`, and returns the number of the line with the contradiction.
Forgery = Callable[[Lines], int]


def honest(folder: Path) -> None:
    """Pages are decided and leave; then the rules forbid one of them."""
    crawl = Crawl(folder)
    crawl.fetch(SITE, b"")
    crawl.decide(NO, START + 1)
    crawl.send(START + 2)
    crawl.decide(f"{SITE}/a", START + 3)
    crawl.send(START + 3, seconds=5.0)
    crawl.fetch(SITE, RULES, at=START + 10)
    crawl.decide(f"{SITE}/b", START + 11)
    crawl.send(START + 12)
    crawl.decide(NO, START + 13)
    crawl.decide(f"{SITE}/c", START + 14)
    crawl.close()


def seal(folder: Path, lines: Lines) -> None:
    """Write *lines* as the owner would: with the counts of the last line."""
    for kind, name in {"decision": "decisions", "sent": "sent", "state": "states"}.items():
        lines[-1][name] = sum(line["type"] == kind for line in lines)
    write_lines(folder, lines)


def of(lines: Lines, kind: str, number: int) -> int:
    """Index of the line of that kind; *number*: from 0."""
    return [at for at, line in enumerate(lines) if line["type"] == kind][number]


def a_second_page(lines: Lines) -> int:
    lines.insert(of(lines, "sent", 0), deepcopy(lines[of(lines, "sent", 0)]))
    return of(lines, "sent", 1) + 1


def a_hundred_pages(lines: Lines) -> int:
    at = of(lines, "sent", 2)
    lines[at:at] = [deepcopy(lines[at]) for _ in range(100)]
    return at + 2


def a_page_of_a_refusal(lines: Lines) -> int:
    sent = lines.pop(of(lines, "sent", 2))
    lines.insert(of(lines, "decision", 4), sent | {"decision": 4, "time": START + 13})
    return of(lines, "sent", 2) + 1


def a_page_after_the_ban(lines: Lines) -> int:
    sent = lines.pop(of(lines, "sent", 0))
    lines.insert(of(lines, "decision", 3), sent | {"time": START + 12.5})
    return of(lines, "sent", 2) + 1


def a_page_before_its_decision(lines: Lines) -> int:
    lines[of(lines, "sent", 2)] |= {"time": START + 6, "seconds": 6.0}
    return of(lines, "sent", 2) + 1


def a_page_after_the_lifetime(lines: Lines) -> int:
    lines[of(lines, "sent", 2)]["time"] = START + 2 * DAY
    return of(lines, "sent", 2) + 1


def _allowed_before(lines: Lines) -> tuple[int, dict[str, Any]]:
    """The refusal, and the members by which the page was allowed before."""
    first = lines[of(lines, "decision", 0)]
    names = ("allowed", "reason", "line", "rule", "group", "state", "record")
    return of(lines, "decision", 3), {name: first[name] for name in names}


def a_state_that_was_replaced(lines: Lines) -> int:
    at, allowed = _allowed_before(lines)
    lines[at] |= allowed
    return at + 1


def rules_of_another_time(lines: Lines) -> int:
    at, allowed = _allowed_before(lines)
    lines[at] |= {**allowed, "rules_time": START + 9}
    return at + 1


def rules_that_had_expired(lines: Lines) -> int:
    last = of(lines, "decision", 4)
    lines[last] |= {"time": START + 3 * DAY, "rules_time": START + 14}
    return last + 1


def a_state_put_back(lines: Lines) -> int:
    """The owner says that a store still had the older rules."""
    old, (at, allowed) = lines[of(lines, "state", 0)], _allowed_before(lines)
    source: dict[str, Any] = {"source": "store", "before": None, "exchanges": [], "time": START + 5}
    lines.insert(at, {**old, **source, "id": "again"})
    lines[at + 1] |= {**allowed, "state": "again"}
    return at + 1


def a_fetch_that_began_from_replaced_rules(lines: Lines) -> int:
    """So that an outage seems to last as long as it has to."""
    at = of(lines, "state", 1)
    third = {**lines[at], "id": "third", "before": lines[of(lines, "state", 0)]["id"]}
    lines.insert(at + 1, third | {"time": START + 10.5, "exchanges": []})
    return at + 2


def a_record_of_a_later_time(lines: Lines) -> int:
    """So that its rules seem to live longer."""
    at = of(lines, "state", 1)
    for name in ("fetched_at", "expires_at"):
        lines[at]["record"][name] += 2.5
    return at + 1


def a_record_from_before_its_answer(lines: Lines) -> int:
    at = of(lines, "state", 1)
    for name in ("fetched_at", "expires_at"):
        lines[at]["record"][name] -= 2.5
    return at + 1


def an_answer_without_a_request(lines: Lines) -> int:
    """Of such a record any time is believed."""
    lines[of(lines, "record", 2)]["began"] = None
    return of(lines, "state", 1) + 1


def an_answer_before_its_request(lines: Lines) -> int:
    lines[of(lines, "record", 2)]["began"] += 1.0
    return of(lines, "record", 2) + 1


def an_earlier_request(lines: Lines) -> int:
    """So that the crawl seems to have waited for its answer."""
    lines[of(lines, "record", 2)]["began"] -= 1.0
    return of(lines, "record", 2) + 1


def a_decision_of_another_file(lines: Lines) -> int:
    at = of(lines, "decision", 3)
    lines[at]["record"] = lines[of(lines, "record", 1)]["id"]
    return at + 1


def a_state_without_its_file(lines: Lines) -> int:
    """So that its decisions seem not to be checkable, and a refusal can be made a permission."""
    at, allowed = _allowed_before(lines)
    state = lines[of(lines, "state", 1)]
    state["body_record"] = None
    lines[at] |= {**allowed, "state": state["id"], "record": None}
    return at + 1


def a_state_that_follows_from_itself(lines: Lines) -> int:
    at = of(lines, "state", 1)
    lines[at]["before"] = lines[at]["id"]
    return at + 1


def a_state_twice(lines: Lines) -> int:
    """As if a store had it again."""
    at = of(lines, "state", 1)
    lines.insert(at + 1, {**lines[at], "source": "store", "before": None, "exchanges": []})
    return at + 2


def the_file_of_another_fetch(lines: Lines) -> int:
    at = of(lines, "state", 1)
    lines[at]["body_record"] = lines[of(lines, "record", 1)]["id"]
    return at + 1


def an_answer_that_nothing_follows_from(lines: Lines) -> int:
    """As if a store had known better."""
    lines[of(lines, "state", 0)] |= {"source": "store", "exchanges": []}
    lines[of(lines, "state", 1)]["before"] = None
    return len(lines)


def another_kind(kind: str, number: int, name: str) -> Forgery:
    def forge(lines: Lines) -> int:
        lines[of(lines, kind, number)][name] = "other"
        return of(lines, kind, number) + 1

    forge.__name__ = f"another_{name}"
    return forge


def a_decision_without_a_line(lines: Lines) -> int:
    del lines[of(lines, "decision", 3)]
    return of(lines, "decision", 3) + 1


def an_earlier(kind: str, number: int, seconds: float = 8.0) -> Forgery:
    def forge(lines: Lines) -> int:
        at = of(lines, kind, number)
        lines[at]["time"] -= seconds
        return at + 1

    forge.__name__ = f"an_earlier_{kind}"
    return forge


FORGERIES: dict[Forgery, str] = {
    a_second_page: "a page left that the decision 1 does not allow (any more)",
    a_hundred_pages: "a page left that the decision 3 does not allow (any more)",
    a_page_of_a_refusal: "a page left that the decision 4 does not allow (any more)",
    a_page_after_the_ban: "a page of decision 1 left 1.5 s after its rules",
    a_page_before_its_decision: "a page of decision 3 left 3 s before it",
    a_page_after_the_lifetime: "s after its rules had expired",
    a_state_that_was_replaced: "had been replaced 3 s before",
    rules_of_another_time: "made by the rules of another time",
    rules_that_had_expired: "made by the rules of another time",
    a_state_put_back: "its time is 7.1 s before that of another line",
    a_fetch_that_began_from_replaced_rules: "is not the state before it",
    a_record_of_a_later_time: "its record is not of the time of its fetch",
    a_record_from_before_its_answer: "its record is not of the time of its fetch",
    an_answer_without_a_request: "answers no request of this crawl",
    an_answer_before_its_request: "its answer is older than its request",
    an_earlier_request: "it is another record than the line says",
    a_decision_of_another_file: "the log says record",
    a_state_without_its_file: "the record of its body is missing",
    a_state_that_follows_from_itself: "is not the state before it",
    a_state_twice: "is there twice",
    the_file_of_another_fetch: "is the file of another fetch",
    an_answer_that_nothing_follows_from: "no state follows from",
    another_kind("decision", 3, "stage"): "stage of a decision has a wrong value",
    another_kind("state", 1, "source"): "source of a state has a wrong value",
    a_decision_without_a_line: "the decision 5 stands after 3",
    an_earlier("decision", 2): "its time is 7 s before that of another line",
    an_earlier("sent", 2): "a page of decision 3 left 5 s before it",
    an_earlier("state", 1): "its record is not of the time of its fetch",
    an_earlier("end", 0, 50): "its time is 4 s before that of another line",
}


#: Those that only a reader with the same rules finds.
BY_RULES = {a_page_after_the_lifetime, a_decision_of_another_file}


def test_an_honest_log_has_no_contradiction(tmp_path: Path) -> None:
    honest(tmp_path)
    result = replay(tmp_path)
    assert (result.problems, result.agree, result.sent, result.sent_by_rules) == ([], 5, 3, 3)


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_contradiction_is_named_with_its_line(tmp_path: Path, forge: Forgery) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    number = forge(lines)
    seal(tmp_path, lines)
    result = replay(tmp_path)
    found = [each for each in result.problems if f": line {number}: " in each]
    assert any(FORGERIES[forge] in each for each in found)
    assert result.problem_count <= (100 if forge is a_hundred_pages else 5)
    assert result.decisions == result.agree + result.differ
    assert Timeline(tmp_path).reading.problems == result.problems


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
@pytest.mark.parametrize("jump", [-1e7, -1000.0, 9.0])
@pytest.mark.parametrize("rules", [RULES_VERSION, 99])
def test_a_note_of_the_clock_excuses_nothing_behind_it(
    tmp_path: Path, forge: Forgery, jump: float, rules: int
) -> None:
    """Nor do other rules, but for what a file means and how long it holds."""
    honest(tmp_path)
    lines = lines_of(tmp_path)
    number = forge(lines)
    note = {"type": "clock", "time": START, "jump": jump}
    lines[0]["rules"] = rules
    seal(tmp_path, [*lines[:2], note, *lines[2:]])
    result = replay(tmp_path)
    found = [each for each in result.problems if f": line {number + 1}: " in each]
    if forge in BY_RULES and rules != RULES_VERSION:
        assert (result.differ, found) == (0, [])
        if forge is a_decision_of_another_file:  # which is counted
            assert (result.agree, result.not_checkable) == (4, 1)
            return
        found = result.notes
    assert any(FORGERIES[forge] in each for each in found)
    assert result.runs[0].jumps == [{"line": 3, "time": START, "jump": jump}]


@pytest.mark.parametrize("forge", [an_earlier("decision", 2), an_earlier("end", 0, 50)])
def test_a_note_of_the_clock_explains_times_that_go_back(tmp_path: Path, forge: Forgery) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    number = forge(lines)
    note = {"type": "clock", "time": START + 11, "jump": -9.0}
    seal(tmp_path, [*lines[: number - 1], note, *lines[number - 1 :]])
    assert replay(tmp_path).problems == []
    note["jump"] = 9.0
    seal(tmp_path, [*lines[: number - 1], note, *lines[number - 1 :]])
    assert len(replay(tmp_path).problems) == 1


def test_a_page_whose_decision_was_lost_is_no_contradiction(tmp_path: Path) -> None:
    """A full disk: the gap is the problem, not the page."""
    honest(tmp_path)
    lines = lines_of(tmp_path)
    gap = {"type": "gap", "time": START + 60, "lost": 1}
    lines[-1] |= {"lost": 1}
    del lines[of(lines, "decision", 1)]
    seal(tmp_path, [*lines[:-1], gap, lines[-1]])
    result = replay(tmp_path)
    assert (result.differ, result.sent, result.sent_by_rules) == (0, 3, 2)
    first, second, third = (each.partition(": ")[2] for each in result.problems)
    assert first.endswith("or its line is missing")
    assert second.endswith("the decision 3 stands after 1")
    assert third.startswith("line 14: 1 lines and records were lost")


def test_a_log_decides_nothing_about_its_checks(tmp_path: Path) -> None:
    """Neither by its format nor by the version of its rules."""
    honest(tmp_path)
    lines = lines_of(tmp_path)
    a_hundred_pages(lines)
    for form, rules, found in (
        (4, 1, "format 4 is not read"),
        (5, 99, "does not allow (any more)"),
    ):
        lines[0] |= {"format": form, "rules": rules}
        seal(tmp_path, lines)
        assert found in replay(tmp_path).problems[0]


def test_a_fetch_begins_from_a_state_of_its_own_origin(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("https://other.example")
    crawl.fetch(SITE)
    crawl.close()
    lines = lines_of(tmp_path)
    first, second = (of(lines, "state", number) for number in (0, 1))
    lines[second]["before"] = lines[first]["id"]
    seal(tmp_path, lines)
    (problem,) = replay(tmp_path).problems
    assert f"line {second + 1}: " in problem
    assert "is not the state before it" in problem


@pytest.mark.parametrize(
    "changes",
    [{"time": START - 60}, {"software": "others"}, {"settings": run_settings(ttl=9.0).to_json()}],
)
def test_the_archive_begins_with_the_same_settings(tmp_path: Path, changes: dict[str, Any]) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    lines[0] |= changes
    seal(tmp_path, lines)
    found = replay(tmp_path).problems
    assert "it has another time or other settings than the first line" in found[0]
    del lines[1]
    seal(tmp_path, lines)
    assert replay(tmp_path).problems[0].endswith("the first record of the archive is missing")


@pytest.mark.parametrize(
    ("began", "status", "is_good"),
    [
        (START, 200, True),
        (START + 0.5, 200, False),
        (START + 0.5, 404, False),
        (START + 0.5, 407, True),
        (START + 0.5, 302, True),
    ],
)
def test_an_answer_without_a_state_may_be_none_of_a_whole_fetch(
    tmp_path: Path, began: float, status: int, is_good: bool
) -> None:
    """A middleware kept it beyond its fetch, a proxy gave it, or a redirect was given up.

    The request of the first was made when the archive had the record before.
    """
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE)
    url = f"{SITE}/robots.txt"
    late = NewRecord(
        "response", url, START + 1, b"", b"HTTP/1.1 %d -\r\n\r\n" % status, began=began
    )
    late.request = asked_for(url)
    crawl.writer.add_line(crawl.writer.store(late))
    crawl.fetch(SITE, at=START + 2)
    crawl.close()
    assert (replay(tmp_path).problems == []) is is_good


def test_archive_bytes_that_no_line_names_are_found(tmp_path: Path) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    (archive,) = tmp_path.glob("robots-*.warc.gz")
    record, data = lines[of(lines, "record", 2)], archive.read_bytes()
    at = record["offset"]
    archive.write_bytes(data[:at] + b"more" + data[at:])
    record["offset"] += 4
    lines[-1]["archive"] += 4
    seal(tmp_path, lines)
    problems = replay(tmp_path).problems
    assert any(f"bytes {at} to {at + 4} are in no line" in each for each in problems)


def test_a_file_of_a_store_is_the_one_that_its_state_names(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.take_over("https://other.example", RULES, START, START + 1)
    crawl.take_over(SITE, RULES + RULES, START, START + 1)
    crawl.close()
    lines = lines_of(tmp_path)
    first, second = (of(lines, "state", number) for number in (0, 1))
    lines[second]["body_record"] = lines[first]["body_record"]
    seal(tmp_path, lines)
    (problem,) = replay(tmp_path).problems
    assert problem.endswith("is the file of another site")


def test_a_file_of_a_store_that_is_archived_is_not_empty(tmp_path: Path) -> None:
    """Its refusal would agree as a permission."""
    crawl = Crawl(tmp_path)
    crawl.take_over(SITE, RULES, START, START + 1)
    crawl.decide(NO, START + 2)
    crawl.close()
    lines = lines_of(tmp_path)
    lines[of(lines, "state", 0)]["body_sha256"] = ""
    empty = {"allowed": True, "reason": "no_group", "line": None, "rule": None, "group": []}
    lines[of(lines, "decision", 0)] |= empty
    seal(tmp_path, lines)
    problems = replay(tmp_path).problems
    assert problems[0].endswith("the body does not fit its digest")


def with_account(lines: Lines, **changes: int) -> Lines:
    """The last line has the account of the crawl: three pages left, one may, one is refused."""
    counts = RequestCounts(Counter(rules=4, refused_rule=1), sent=3)
    lines[-1]["requests"] = counts.to_json() | changes
    return lines


@pytest.mark.parametrize(
    ("changes", "is_good"),
    [
        ({}, True),
        ({"no_robots_txt": 9}, True),  # no decision is logged
        ({"refused_rule": 7}, False),
        ({"refused_rule": 0}, False),
        ({"refused_policy": 1}, False),
        ({"rules": 3, "override": 1}, False),
        ({"not_sent": 0}, False),
        ({"rules": 5, "not_sent": 2}, False),
        ({"dont_obey_robotstxt": 1}, False),
        ({"after_sending": 1}, False),
        ({"answered_by_middleware": 1}, False),
    ],
)
def test_the_account_of_the_crawl_agrees_with_its_lines(
    tmp_path: Path, changes: dict[str, int], is_good: bool
) -> None:
    honest(tmp_path)
    seal(tmp_path, with_account(lines_of(tmp_path), **changes))
    result = replay(tmp_path)
    assert (result.problems == []) is is_good
    assert all("line 15: end: the crawl counts" in each for each in result.problems)
    assert result.runs[0].end is not None
    assert result.runs[0].end["requests"]["rules"] == changes.get("rules", 4)


@pytest.mark.parametrize(("refused", "is_good"), [(0, False), (1, True), (2, True), (3, False)])
def test_a_refusal_inside_a_browser_may_be_that_of_a_page(
    tmp_path: Path, refused: int, is_good: bool
) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    inside = lines[of(lines, "decision", 3)] | {"number": 6, "time": START + 20, "stage": "browser"}
    lines.insert(-1, inside)
    seal(tmp_path, with_account(lines, refused_rule=refused))
    assert (replay(tmp_path).problems == []) is is_good


@pytest.mark.parametrize(("let_through", "is_good"), [(4, True), (5, True), (6, False)])
def test_a_request_without_a_check_may_be_that_of_a_renderer(
    tmp_path: Path, let_through: int, is_good: bool
) -> None:
    honest(tmp_path)
    lines = lines_of(tmp_path)
    own = {"number": 6, "time": START + 20, "tokens": [], "reason": "dont_obey_robotstxt"}
    lines.insert(-1, lines[of(lines, "decision", 4)] | own)
    seal(tmp_path, with_account(lines, rules=let_through, not_sent=let_through - 3))
    assert (replay(tmp_path).problems == []) is is_good


@pytest.mark.parametrize("refused", ["refused_rule", "refused_override", "refused_unreachable"])
def test_no_request_of_a_renderer_is_refused(tmp_path: Path, refused: str) -> None:
    """So a request without a check stands for no refusal whose decision is left out."""
    honest(tmp_path)
    lines = lines_of(tmp_path)
    own = {"number": 6, "time": START + 20, "tokens": [], "reason": "dont_obey_robotstxt"}
    lines.insert(-1, lines[of(lines, "decision", 4)] | own)
    account = {"rules": 4, "dont_obey_robotstxt": 1, "not_sent": 2}
    seal(tmp_path, with_account(deepcopy(lines), **account))
    assert replay(tmp_path).problems == []
    more = 2 if refused == "refused_rule" else 1
    seal(tmp_path, with_account(lines, **account, **{refused: more}))
    (problem,) = replay(tmp_path).problems
    assert f"'{refused}': {more}}}, the log has " in problem


@pytest.mark.parametrize("jump", [-90.0, -5000.0, 90.0])
def test_a_failure_after_the_clock_was_set_is_no_contradiction(tmp_path: Path, jump: float) -> None:
    """The copy is then from later, by the clock before."""
    crawl = Crawl(tmp_path)
    crawl.fetch(SITE, RULES, at=START + 9999)
    crawl.writer.add_line(dumps({"type": "clock", "time": START + 10_000 + jump, "jump": jump}))
    crawl.fetch(SITE, b"", 503, at=START + 10_001 + jump)
    crawl.close(START + 10_002 + jump)
    assert replay(tmp_path).problems == []


def test_a_request_may_be_under_way_while_the_clock_is_set_twice(tmp_path: Path) -> None:
    """A machine that wakes up has a wrong clock until it asks for the time."""
    crawl = Crawl(tmp_path)
    began, now = START + 10, START + 11
    for at, jump in ((now + 4000, 4000.0), (now - 5, -4005.0)):
        crawl.writer.add_line(dumps({"type": "clock", "time": at, "jump": jump}))
    url = f"{SITE}/robots.txt"
    record = NewRecord("response", url, now - 4, b"", b"HTTP/1.1 200 OK\r\n\r\n", began=began)
    record.request = asked_for(url)
    crawl.writer.add_line(crawl.writer.store(record))
    crawl.close(now)
    assert replay(tmp_path).problems == []


# --- random mixtures


class World:
    """An honest crawl of three sites that makes one step after another."""

    def __init__(self, folder: Path) -> None:
        self.crawl = Crawl(folder)
        self.now = START
        """By the clock of the crawl."""
        self.sites = [f"https://{name}.example" for name in "abc"]
        self.fetched: dict[str, float] = {}
        self.asked: set[str] = set()
        """Sites that have answered once."""
        self.queued: list[tuple[int, str]] = []
        """Decisions whose pages have not left: number and site."""
        self.under_way: list[tuple[int, float]] = []
        """Pages without an answer yet: number of the decision, and when they left."""

    def step(self, choice: int, site: str, pause: float) -> None:
        self.now += pause
        if site not in self.fetched or choice in (0, 6):
            status = 503 if choice == 6 and site in self.asked else 200
            self.asked.add(site)
            self.crawl.fetch(site, RULES if choice else b"", status, at=self.now)
            self.queued = [each for each in self.queued if each[1] != site]
            self.fetched[site] = self.now
        elif choice < 3:
            line = self.crawl.decide(f"{site}/{'private/' if choice > 1 else ''}", self.now)
            if line["allowed"]:
                self.queued.append((self.crawl.decisions, site))
        elif choice == 3 and self.queued:
            number, _ = self.queued.pop(0)
            self.under_way.append((number, self.now))
        elif self.under_way:
            number, left = self.under_way.pop(0)
            self.crawl.send(left, number=number, seconds=max(0.0, self.now - left))

    def set_clock(self, jump: float, late: Steps) -> None:
        """The clock was set; the steps *late* were made just before, and are written behind."""
        note = {"type": "clock", "time": self.now + jump, "jump": jump}
        self.crawl.writer.add_line(dumps(note))
        for choice, site, _ in late:
            self.step(choice, self.sites[site], 0.0)
        self.now += jump
        if abs(jump) > 60:  # a crawl asks again
            self.fetched.clear()
            self.queued.clear()

    def close(self) -> None:
        for number, left in self.under_way:
            self.crawl.send(left, number=number, seconds=max(0.0, self.now - left))
        self.crawl.close(self.now)


Steps = list[tuple[int, int, float]]
STEP = st.tuples(st.integers(0, 6), st.integers(0, 2), st.floats(0, 5))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, max_size=40), st.data())
def test_a_clock_that_is_set_accuses_no_honest_crawl(
    tmp_path_factory: pytest.TempPathFactory, steps: Steps, data: Any
) -> None:
    """Be it set twice, and forwards; nor where lines made before stand behind its note."""
    folder = tmp_path_factory.mktemp("evidence")
    world = World(folder)
    moments = data.draw(st.lists(st.integers(0, len(steps)), max_size=2))
    for at, (choice, site, pause) in enumerate(steps):
        world.step(choice, world.sites[site], pause)
        if at in moments:
            jump = data.draw(st.sampled_from([-1e6, -300.0, -9.0, -1.1, 9.0, 1e5]))
            world.set_clock(jump, data.draw(st.lists(STEP, max_size=2)))
    world.close()
    assert replay(folder).problems == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEP, max_size=40), st.data())
def test_random_honest_crawls_are_clean_and_their_forgeries_are_not(
    tmp_path_factory: pytest.TempPathFactory, steps: Steps, data: Any
) -> None:
    folder = tmp_path_factory.mktemp("evidence")
    world = World(folder)
    for choice, site, pause in steps:
        world.step(choice, world.sites[site], pause)
    world.close()
    assert replay(folder).problems == []
    lines = lines_of(folder)
    sent = [at for at, line in enumerate(lines) if line["type"] == "sent"]
    if not sent:
        return
    at = data.draw(st.sampled_from(sent))
    if data.draw(st.booleans()):
        lines.insert(data.draw(st.integers(at + 1, len(lines) - 1)), lines[at])
    else:
        lines[at]["time"] += 2 * DAY
    seal(folder, lines)
    assert replay(folder).problems
