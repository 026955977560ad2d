"""EvidenceObserver: each state is archived once, and what was logged is replayed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.evidence.replay import ReplayResult, replay
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.plugin.deciding.request_policy import Answer
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
from scrapy_robotspec.plugin.recording.observer import EvidenceObserver, open_evidence
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.support.evidence import RULES, lines_of, run_settings
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

SITE = "https://example.com"


def observer_in(folder: Path) -> EvidenceObserver:
    crawler = crawler_with_engine()
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
