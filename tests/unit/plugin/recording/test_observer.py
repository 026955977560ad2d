"""EvidenceObserver: each state is archived once, and what was logged is replayed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult, Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.evidence.log_lines import LoggedDecision
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from scrapy_robotspec.lookup import FetchDone, Resolved
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.plugin.deciding.request_policy import Answer, RequestPolicy
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
from scrapy_robotspec.plugin.recording.observer import EvidenceObserver, open_evidence
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.support.evidence import RULES, lines_of, run_settings
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

SITE = "https://example.com"
ORIGIN = Origin("https", "example.com", 443)
INSIDE, OUTSIDE = "http://10.0.0.1/robots.txt", "http://other.example/robots.txt"
POLICY = run_settings().policy


def observer_in(folder: Path, **given: Any) -> EvidenceObserver:
    crawler = crawler_with_engine(**given)
    settings = replace(Settings.from_scrapy(crawler.settings), evidence=str(folder))
    return open_evidence(crawler, settings, TokenSelector(crawler, settings), time.time())


def found(now: float, site: str = SITE, **changes: Any) -> Resolved:
    """The rules of a site as a shared store has them."""
    origin, policy = Origin.of(site), run_settings().policy
    assert origin is not None
    times = {"fetched_at": now, "expires_at": now + 60, **changes}
    record = RobotsRecord(origin, Meaning.RULES, 200, RULES, **times)
    return RulesCache().make(record, policy.plan(record, now), policy.edition, now)


def decide(observer: EvidenceObserver, rules: Resolved, path: str) -> None:
    """A decision is logged; an allowed page leaves."""
    request, now = Request(f"{rules.origin.scheme}://{rules.origin.host}{path}"), time.time()
    answer = Answer(rules.decide(request.url, ("examplebot",), now), rules)
    logged = observer.on_decision(request, answer, "request")
    if answer.decision.allowed:
        observer.on_sent(logged, now, 200)


def closed(observer: EvidenceObserver, folder: Path) -> tuple[list[str], ReplayResult]:
    """The kinds of all lines, and the replay."""
    observer.close(None)
    return [line["type"] for line in lines_of(folder)], replay(folder)


def test_decisions_by_a_record_of_a_store_replay(tmp_path: Path) -> None:
    observer, rules = observer_in(tmp_path), found(time.time())
    for path in ("/a", "/private/b", "/c"):
        decide(observer, rules, path)
    kinds, result = closed(observer, tmp_path)
    logged = ["state", "decision", "sent", "decision", "decision", "sent"]
    assert kinds == ["run", "record", "record", *logged, "end"]
    assert (result.problems, result.agree, result.sent) == ([], 3, 2)


def test_a_body_that_stays_is_archived_once(tmp_path: Path) -> None:
    now = time.time()
    observer = observer_in(tmp_path)
    for expires in (60, 60, 90):
        decide(observer, found(now, expires_at=now + expires), "/a")
    kinds, result = closed(observer, tmp_path)
    assert [kinds.count(kind) for kind in ("record", "state", "decision")] == [2, 2, 3]
    assert result.problems == []


def test_a_file_that_came_from_inside_is_left_out(tmp_path: Path) -> None:
    """SAF-06: another process has followed the redirect."""
    observer = observer_in(tmp_path)
    hops = (Hop(f"{SITE}/robots.txt", 302, "http://10.0.0.1/robots.txt"),)
    decide(observer, found(time.time(), hops=hops), "/private/b")
    _, result = closed(observer, tmp_path)
    assert (result.problems, result.not_checkable) == ([], 1)
    assert RULES not in next(tmp_path.glob("robots-*")).read_bytes()


def test_an_origin_that_was_forgotten_is_archived_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_robotspec.plugin.recording.observer._MAX_ORIGINS", 1)
    observer, now = observer_in(tmp_path), time.time()
    for site in (SITE, "https://other.example", SITE):
        decide(observer, found(now, site), "/a")
    kinds, result = closed(observer, tmp_path)
    assert kinds.count("state") == 3
    assert result.problems == []


def test_a_folder_that_cannot_be_written_names_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_EVIDENCE"):
        observer_in(tmp_path / "file" / "folder")


# --- states


def fetched(
    observer: EvidenceObserver,
    body: bytes = RULES,
    *,
    base: RobotsRecord | None = None,
    is_archived: bool = True,
    **changes: Any,
) -> RobotsRecord:
    """The record that a fetch led to; *changes*: of its result."""
    now = time.time()
    archive, url = observer.of_fetch(ORIGIN, now), ORIGIN.robots_url
    given: dict[str, Any] = {"status": 200, "body": body, **changes}
    result = FetchResult(**given)
    for hop in result.hops:
        archive.add_response(Exchange(hop.url, hop.status), Request(hop.url), Response(url), now)
    if not is_archived:
        archive.records.clear()
    elif result.status is None:
        archive.add_failure(url, "refused", now)
    else:
        exchange = Exchange(url, result.status, body=body)
        archive.add_response(exchange, Request(url), Response(url), now)
    record = POLICY.apply(base, ORIGIN, result, now, 0.5)
    done(observer, record, replace(result, archive=archive if is_archived else None), base)
    return record


def done(
    observer: EvidenceObserver,
    record: RobotsRecord | None,
    result: FetchResult | None = None,
    base: RobotsRecord | None = None,
) -> None:
    """A fetch has ended."""
    found: Any = None
    observer.on_fetch_done(FetchDone(found, record, None, result, 0.0, base))


def logged(observer: EvidenceObserver, folder: Path, kind: str) -> list[Any]:
    """All lines of a kind."""
    observer.close(None)
    return [line for line in lines_of(folder) if line["type"] == kind]


@pytest.mark.parametrize(
    ("given", "body_of", "failure"),
    [
        ({}, -1, None),
        ({"hops": (Hop(ORIGIN.robots_url, 302, OUTSIDE),)}, -1, None),
        ({"status": 404, "body": b""}, None, None),
        ({"status": 407, "body": b"", "local": True}, None, [None, True]),
        ({"status": None, "error": "refused"}, None, ["refused", False]),
        ({"status": None, "error": "refused", "local": True}, None, ["refused", True]),
        ({"status": None, "error": "refused", "is_archived": False}, None, ["refused", False]),
        ({"is_archived": False}, None, None),
    ],
)
def test_the_state_of_a_fetch_names_its_exchanges_and_its_file(
    tmp_path: Path, given: dict[str, Any], body_of: int | None, failure: list[Any] | None
) -> None:
    observer = observer_in(tmp_path)
    fetched(observer, **given)
    (state,) = logged(observer, tmp_path, "state")
    ids = [line["id"] for line in lines_of(tmp_path) if line["type"] == "record"][1:]
    assert (state["source"], state["before"]) == ("fetch", None)
    assert state["exchanges"] == ids
    assert len(ids) == (1 + len(given.get("hops", ())) if given.get("is_archived", True) else 0)
    assert state["body_record"] == (None if body_of is None else ids[body_of])
    assert state["failure"] == failure


@pytest.mark.parametrize("status", [503, None])
def test_a_copy_that_stays_after_a_failure_has_its_body_record(
    tmp_path: Path, status: int | None
) -> None:
    observer = observer_in(tmp_path)
    copy = fetched(observer)
    error = None if status else "refused"
    fetched(observer, b"", status=status, error=error, base=copy)
    first, second = logged(observer, tmp_path, "state")
    assert second["before"] == first["id"]
    assert second["body_record"] == first["body_record"] == first["exchanges"][0]
    assert replay(tmp_path).problems == []


def test_a_new_file_replaces_the_one_before(tmp_path: Path) -> None:
    observer = observer_in(tmp_path)
    copy = fetched(observer)
    fetched(observer, b"User-agent: *\nDisallow: /", base=copy)
    first, second = logged(observer, tmp_path, "state")
    assert second["before"] == first["id"]
    assert [each["body_record"] for each in (first, second)] == [
        each["exchanges"][0] for each in (first, second)
    ]


def test_a_store_had_what_a_fetch_changed(tmp_path: Path) -> None:
    """It is archived as the store's, before the state that follows."""
    observer = observer_in(tmp_path)
    fetched(observer, status=404, base=found(time.time() - 5).record)
    first, second = logged(observer, tmp_path, "state")
    assert (first["source"], second["source"]) == ("store", "fetch")
    assert second["before"] == first["id"]


@pytest.mark.parametrize("is_newer", [False, True])
def test_a_record_that_a_store_had_is_archived_without_a_fetch(
    tmp_path: Path, is_newer: bool
) -> None:
    """No state follows from a fetch that was preempted and left no record."""
    observer = observer_in(tmp_path)
    done(observer, found(time.time()).record if is_newer else None)
    states = logged(observer, tmp_path, "state")
    assert [(state["source"], state["exchanges"]) for state in states] == [("store", [])] * is_newer


@pytest.mark.parametrize(
    ("changes", "dated"),
    [
        ({}, 10.0),
        ({"failed_at": 20.0, "unreachable_since": 20.0, "next_attempt": 99.0}, 10.0),
        ({"body": b""}, None),
        ({"meaning": None, "status": None, "fetched_at": None, "failed_at": 20.0}, 20.0),
    ],
    ids=["file", "copy", "no file", "a body without an answer (SAF-05)"],
)
def test_the_file_of_a_store_is_archived_with_the_time_of_its_fetch(
    tmp_path: Path, changes: dict[str, Any], dated: float | None
) -> None:
    observer = observer_in(tmp_path)
    record = replace(
        found(time.time()).record, **{"fetched_at": 10.0, "expires_at": 30.0, **changes}
    )
    done(observer, record)
    archived = logged(observer, tmp_path, "record")[1:]
    assert [line["time"] for line in archived] == ([] if dated is None else [dated])


def test_a_store_whose_file_has_changed_is_archived_again(tmp_path: Path) -> None:
    observer, record = observer_in(tmp_path), found(time.time()).record
    other = replace(record, body=b"User-agent: *\nDisallow: /\n")
    for each in (record, other, replace(other, expires_at=time.time() + 90)):
        done(observer, each)
    states = logged(observer, tmp_path, "state")
    bodies = [state["body_record"] for state in states]
    assert (len(set(bodies)), bodies[1]) == (2, bodies[2])


@pytest.mark.parametrize(
    ("site", "target", "is_left_out"),
    [
        (SITE, INSIDE, True),
        (SITE, OUTSIDE, False),
        (SITE, None, False),
        ("http://10.0.0.2", INSIDE, False),
    ],
)
def test_a_file_of_a_store_is_left_out_only_behind_a_redirect_inside(
    tmp_path: Path, site: str, target: str | None, is_left_out: bool
) -> None:
    """SAF-06."""
    observer = observer_in(tmp_path)
    done(observer, found(time.time(), site, hops=(Hop(f"{site}/robots.txt", 302, target),)).record)
    observer.close(None)
    archived = next(tmp_path.glob("robots-*")).read_bytes()
    assert (RULES in archived) is not is_left_out
    assert (b"Robotspec-Left-Out-Length: %d" % len(RULES) in archived) is is_left_out


# --- decisions


def test_a_decision_has_its_own_time_and_an_override_the_present(tmp_path: Path) -> None:
    given = {"ROBOTSPEC_OVERRIDES": {"other.example": "ignore"}}
    observer, now = observer_in(tmp_path, **given), time.time()
    rules, page = found(now - 50), Request(f"{SITE}/a")
    ruled = Answer(rules.decide(page.url, ("examplebot",), now - 5), rules)
    crawler = crawler_with_engine(**given)
    settings = Settings.from_scrapy(crawler.settings)
    policy = RequestPolicy(settings, TokenSelector(crawler, settings), ftp=False)
    other = Request("https://other.example/")
    ignored = policy.by_override(Origin("https", "other.example", 443), other)
    assert ignored is not None
    observer.on_decision(page, ruled, "request")
    observer.on_decision(other, ignored, "request")
    first, second = logged(observer, tmp_path, "decision")
    assert (first["time"], first.get("override")) == (now - 5, None)
    assert second["time"] >= now
    assert (second["policy"], second["override"]) == ("override", ["ignore"])


@pytest.mark.parametrize("is_exempt", [True, False])
def test_a_request_is_logged_as_exempt_if_its_meta_says_so(tmp_path: Path, is_exempt: bool) -> None:
    """Those of other schemes need no robots.txt either, and no line."""
    observer = observer_in(tmp_path)
    observer.on_exempt(Request("data:,page", meta={"dont_obey_robotstxt": is_exempt}))
    lines = logged(observer, tmp_path, "decision")
    assert [line["reason"] for line in lines] == ["dont_obey_robotstxt"] * is_exempt


@pytest.mark.parametrize(
    ("header", "refusal", "expected"),
    [
        (b"", None, None),
        (b"train-ai=y", None, (True, "no_rule")),
        (b"", UsageRefusal("train-ai"), (False, "usage")),
        (b"train-ai=n", UsageRefusal("train-ai"), (False, "usage")),
    ],
)
def test_a_page_is_logged_again_for_its_header_or_its_refusal(
    tmp_path: Path, header: bytes, refusal: UsageRefusal | None, expected: tuple[bool, str] | None
) -> None:
    """USE-05: by the rules of the time when it was decided about."""
    observer, now = observer_in(tmp_path), time.time()
    rules, page = found(now - 50), Request(f"{SITE}/a")
    decision = rules.decide(page.url, ("examplebot",), now - 5)
    asked = observer.on_decision(page, Answer(decision, rules), "request")
    observer.on_usage(asked, header, refusal)
    lines = logged(observer, tmp_path, "decision")[1:]
    assert len(lines) == (expected is not None)
    for line in lines:
        assert (line["allowed"], line["reason"]) == expected
        assert (line["stage"], line["number"], line["rules_time"]) == ("response", 2, now - 5)
        assert line["header"] == header.decode()


def test_an_exempt_page_has_no_usage_line(tmp_path: Path) -> None:
    observer = observer_in(tmp_path)
    page = Request(f"{SITE}/", meta={"dont_obey_robotstxt": True})
    exempt = observer.on_exempt(page)
    assert exempt is not None
    observer.on_usage(exempt, b"train-ai=n", None)
    assert len(logged(observer, tmp_path, "decision")) == 1


@pytest.mark.parametrize(("ago", "least", "most"), [(100.0, 100.0, 110.0), (-100.0, 0.0, 0.0)])
@pytest.mark.parametrize("status", [200, None])
def test_a_page_that_left_has_its_status_and_the_seconds_until_then(
    tmp_path: Path, ago: float, least: float, most: float, status: int | None
) -> None:
    """None where the clock was set back since; no status where nothing answered."""
    observer, left = observer_in(tmp_path), round(time.time() - ago, 6)
    observer.on_sent(LoggedDecision(7, left, "request", SITE, ()), left, status)
    (line,) = logged(observer, tmp_path, "sent")
    assert (line["decision"], line["status"], line["time"]) == (7, status, left)
    assert least <= line["seconds"] <= most


# --- the first line


def test_the_first_line_has_the_settings_that_decide(tmp_path: Path) -> None:
    """Names of those that the user has set, and the values that show no secret."""
    observer = observer_in(
        tmp_path,
        ROBOTSPEC_OVERRIDES={"other.example": "ignore"},
        ROBOTSPEC_USER_AGENT_TOKEN="examplebot",
        DOWNLOAD_DELAY=0.5,
        COOKIES_ENABLED=None,
    )
    (first,) = logged(observer, tmp_path, "run")
    assert first["settings"]["tokens"] == ["examplebot"]
    assert list(first["settings"]["overrides"]) == ["other.example"]
    changed = first["changed_settings"]
    assert {"DOWNLOAD_DELAY", "DOWNLOAD_HANDLERS", "ROBOTSPEC_OVERRIDES"} <= {*changed}
    assert not {"AUTOTHROTTLE_ENABLED", "ROBOTSPEC_EVIDENCE_OPERATOR"} & {*changed}
    assert first["values"]["DOWNLOAD_DELAY"] == 0.5
    assert not {"COOKIES_ENABLED", "DOWNLOAD_HANDLERS"} & {*first["values"]}


def test_tokens_that_differ_between_requests_are_not_those_of_the_run(tmp_path: Path) -> None:
    (first,) = logged(observer_in(tmp_path), tmp_path, "run")
    assert first["settings"]["tokens"] is None
    assert first["settings"]["overrides"] == {}
