"""Enforcer: what an answer does to a request, to the counts and to what is sent."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.http import Response

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin.enforcement import RulesExpired, final_request, remove_usage
from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots, ForbiddenUsage
from scrapy_robotspec.plugin.reporting.crawl_account import NEVER_DECIDED
from scrapy_robotspec.plugin.scheduling.request_waits import send_back
from tests.unit.plugin.obeying import NOW, RULES, URL, A, Numbered, Obeying, run

DAY = 86_400.0
SPLASH = {"splash": {"args": {"url": f"{URL}/yes"}}, "_splash_processed": True}


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Obeying:
    obeying = Obeying(monkeypatch)
    obeying.know()
    return obeying


def applied(crawl: Obeying, path: str = "/yes", **more: Any) -> Request:
    """A request about which the rules in force have decided."""
    request = Request(f"{URL}{path}", **more)
    answer = crawl.robots.decide_now(A, request, crawl.now)
    assert not isinstance(answer, Pending)
    crawl.enforcer.enforce(request, answer)
    return request


# --- the first decision


def test_a_request_that_may_go_has_a_summary_and_counts_once(crawl: Obeying) -> None:
    request = applied(crawl)
    summary = request.meta["robotspec"]
    assert (summary["allowed"], summary["reason"], summary["origin"]) == (True, "no_rule", URL)
    assert (summary["group"], summary["age"], summary["pattern"]) == (("*",), 0.0, None)
    assert "usage" not in summary
    assert "licenses" not in summary
    assert crawl.counts() == {"rules": 1}
    crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
    assert crawl.counts() == {"rules": 1}, "a request that was not sent counts once"


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"User-agent: *\nAllow: /yes", 200, ("/yes", 2, ("*",), "google-2019")),
        (RULES, 200, (None, None, ("*",), "google-2019")),
        (b"", 404, (None, None, (), None)),
    ],
    ids=["rule", "no rule", "no file"],
)
def test_a_summary_names_the_rule_that_decides(
    crawl: Obeying, body: bytes, status: int, expected: tuple[Any, ...]
) -> None:
    crawl.now += 2 * DAY  # the copy has expired
    crawl.know(body, status)
    summary = applied(crawl).meta["robotspec"]
    assert tuple(summary[name] for name in ("pattern", "line", "group", "edition")) == expected


def test_a_refused_request_raises_and_counts_as_refused(crawl: Obeying) -> None:
    with pytest.raises(ForbiddenByRobots, match="Disallow: /no") as raised:
        applied(crawl, "/no")
    assert raised.value.decision.verdict is not None
    assert crawl.counts() == {"refused_rule": 1}
    assert crawl.stat("robotstxt/forbidden") == 1


@pytest.mark.parametrize(
    ("settings", "body", "counted"),
    [
        ({}, b"User-agent: *\nCrawl-delay: 5", True),
        ({}, b"User-agent: *\nDisallow: /no", False),
        ({"ROBOTSPEC_CRAWL_DELAY": True}, b"User-agent: *\nCrawl-delay: 5", False),
        ({"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 5}, b"User-agent: *\nCrawl-delay: 5", False),
        ({"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 4}, b"User-agent: *\nCrawl-delay: 5", True),
        (
            {"ROBOTSPEC_OVERRIDES": {"a.example": {"crawl_delay": 0}}},
            b"User-agent: *\nCrawl-delay: 5",
            False,
        ),
        (
            {"ROBOTSPEC_OVERRIDES": {"a.example": {"token": "other"}}},
            b"User-agent: *\nCrawl-delay: 5",
            True,
        ),
    ],
)
def test_a_delay_that_is_not_kept_is_counted(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], body: bytes, counted: bool
) -> None:
    """EXT-01: not where pages are further apart, or where the user has chosen."""
    crawl = Obeying(monkeypatch, **settings)
    crawl.know(body)
    applied(crawl)
    kept = crawl.robots.progress.account.delays_not_kept
    assert kept == ({A: 5.0} if counted else {})


@pytest.mark.parametrize(
    ("stat", "status"), [("robotspec/cache/hit", 200), ("robotspec/cache/stale", 503)]
)
def test_the_record_is_fresh_or_stale(crawl: Obeying, stat: str, status: int) -> None:
    """A copy decides while its site is down; an answer of a second look is not counted."""
    crawl.now += DAY / 2
    crawl.know(RULES, status)
    request = applied(crawl)
    assert crawl.robots.progress.account.of_pages[stat] == 1
    crawl.enforcer.enforce(
        request,
        crawl.robots.decide_now(A, request, crawl.now),  # type: ignore[arg-type]
        again=True,
    )
    assert crawl.robots.progress.account.of_pages[stat] == 1


def test_a_page_of_a_host_that_is_ignored_has_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": "ignore"})
    assert applied(crawl).meta["robotspec"]["allowed"]
    assert crawl.counts() == {"override": 1}
    assert not [name for name in crawl.robots.progress.account.of_pages if "cache" in name]


def test_an_override_is_counted_once_for_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": {"token": "own"}})
    crawl.know()
    request = applied(crawl)
    answer = crawl.robots.decide_now(A, request, NOW)
    crawl.enforcer.enforce(request, answer, again=True)  # type: ignore[arg-type]
    pages = crawl.robots.progress.account.of_pages
    assert {name: number for name, number in pages.items() if "override" in name} == {
        "robotspec/override/token": 1
    }


@pytest.mark.parametrize("wanted", [False, True])
def test_a_request_that_went_back_has_the_users_dont_filter_again(
    crawl: Obeying, wanted: bool
) -> None:
    for exempt in (False, True):
        meta = {"dont_obey_robotstxt": exempt}
        request = send_back(Request(f"{URL}/yes", dont_filter=wanted, meta=meta))
        assert request.dont_filter
        if exempt:
            crawl.enforcer.exempt(request)
        else:
            crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
        assert request.dont_filter is wanted


def test_a_refused_request_that_is_repeated_counts_once(crawl: Obeying) -> None:
    """Middlewares that repeat after every exception send a copy, with its meta."""
    request = Request(f"{URL}/no")
    for _ in range(3):
        answer = crawl.robots.decide_now(A, request, NOW)
        with pytest.raises(ForbiddenByRobots, match="Disallow: /no"):
            crawl.enforcer.enforce(request, answer)  # type: ignore[arg-type]
        request = request.copy()
    assert crawl.counts() == {"refused_rule": 1}
    with pytest.raises(ForbiddenByRobots):
        applied(crawl, "/no?other", meta=request.meta)
    assert crawl.counts() == {"refused_rule": 2}, "another page that has the same meta"


def test_a_refused_request_that_is_repeated_goes_once_the_rules_allow_it(crawl: Obeying) -> None:
    request = Request(f"{URL}/no")
    with pytest.raises(ForbiddenByRobots):
        crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
    crawl.know(b"User-agent: *\nAllow: /\n")
    crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
    assert crawl.counts() == {"refused_rule": 1, "rules": 1}


def test_decisions_and_exemptions_are_evidence(crawl: Obeying) -> None:
    noted: list[str] = []
    observer = SimpleNamespace(
        on_decision=lambda request, answer, stage: noted.append(stage),
        on_exempt=lambda request: noted.append("exempt"),
    )
    crawl.enforcer._observer = cast("Any", observer)
    applied(crawl)
    crawl.enforcer.exempt(Request(f"{URL}/no", meta={"dont_obey_robotstxt": True}))
    assert noted == ["request", "exempt"]


def test_licenses_are_in_the_summary(crawl: Obeying) -> None:
    crawl.know(b"User-agent: *\nLicense: https://a.example/license.xml\n")
    assert applied(crawl).meta["robotspec"]["licenses"] == ("https://a.example/license.xml",)


# --- requests that need no robots.txt


def test_exempt_requests_count_by_their_reason(crawl: Obeying) -> None:
    crawl.enforcer.exempt(Request(f"{URL}/no", meta={"dont_obey_robotstxt": True}))
    crawl.enforcer.exempt(Request("data:,page"))
    crawl.enforcer.exempt(Request(f"{URL}/robots.txt", meta={"_robotspec_download": "transfer"}))
    crawl.enforcer.exempt(Request("://"))  # scrapy-puppeteer-client replaces it
    assert crawl.counts() == {"dont_obey_robotstxt": 1, "no_robots_txt": 1}


def test_exempt_requests_count_for_their_origin(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those without a robots.txt for none."""
    account, asked = crawl.robots.progress.account, []
    counts = account.requests_of(None)

    def requests_of(origin: Origin | None) -> RequestCounts:
        asked.append(origin)
        return counts

    monkeypatch.setattr(account, "requests_of", requests_of)
    crawl.enforcer.exempt(Request(f"{URL}/no", meta={"dont_obey_robotstxt": True}))
    crawl.enforcer.exempt(Request("data:,page"))
    assert asked == [A, None]


@pytest.mark.parametrize(("body", "outcome"), [(RULES, "rules"), (b"<html></html>", "unavailable")])
def test_a_request_to_splash_counts_as_its_page(crawl: Obeying, body: bytes, outcome: str) -> None:
    """Once, whether the page's own request counts already or Splash is asked again."""
    crawl.know(body)
    page = applied(crawl)
    sent = Request("http://splash.example/", meta={**page.meta, **SPLASH})
    for number in (1, 2):
        crawl.enforcer.exempt(sent)
        assert crawl.counts() == {outcome: number}
        crawl.enforcer.check_sending(sent)
    crawl.enforcer.exempt(sent)
    crawl.know(b"User-agent: *\nDisallow: /")
    with pytest.raises(ForbiddenByRobots, match="Disallow: /"):
        crawl.enforcer.check_sending(sent)
    assert crawl.counts() == {outcome: 2, "refused_rule": 1}


def test_a_request_to_a_browser_service_counts_as_its_page(crawl: Obeying) -> None:
    """As scrapy-puppeteer-client sends it."""
    page = applied(crawl)
    sent = Request("http://puppeteer.example/goto", meta={"puppeteer_request": page})
    crawl.enforcer.exempt(sent)
    crawl.enforcer.check_sending(sent)
    assert crawl.counts() == {"rules": 1}
    crawl.know(b"User-agent: *\nDisallow: /")
    with pytest.raises(ForbiddenByRobots, match="Disallow: /"):
        crawl.enforcer.check_sending(sent)


class Observer:
    """The stages whose decisions would be in the evidence."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def on_decision(self, request: Request, answer: object, stage: str) -> None:
        self.stages.append(stage)


def test_the_page_behind_splash_is_asked_for_again_only_if_it_was_decided_about(
    crawl: Obeying,
) -> None:
    """A refusal is logged as evidence; else the decision about the page stands."""
    observer = Observer()
    crawl.robots.observer = cast("Any", observer)
    page, exempt = applied(crawl), Request("http://splash.example/", meta=dict(SPLASH))
    exempt.meta["dont_obey_robotstxt"] = True  # the user's: the page has no summary
    sent = Request("http://splash.example/", meta={**page.meta, **SPLASH})
    for request in (exempt, sent):
        crawl.enforcer.exempt(request)
        crawl.enforcer.check_sending(request)
    assert observer.stages == []
    crawl.enforcer.exempt(sent)
    crawl.now += 10 * DAY

    async def send() -> None:  # its rules have expired: a fetch begins, and the page goes
        crawl.enforcer.check_sending(sent)

    run(send)
    crawl.know(b"User-agent: *\nDisallow: /")
    crawl.enforcer.exempt(sent)
    with pytest.raises(ForbiddenByRobots):
        crawl.enforcer.check_sending(sent)
    assert observer.stages == ["request"]


# --- when a request leaves its download slot


def test_a_request_is_sent_by_the_rules_in_force(crawl: Obeying) -> None:
    """CAC-07: equal rules let it go, new ones decide again, and expired ones are fetched."""
    same, allowed, refused, expired = (applied(crawl) for _ in range(4))
    crawl.enforcer.check_sending(same)
    assert crawl.robots.progress.account.requests().sent == 1
    crawl.know(b"User-agent: *\nDisallow: /other\n")
    crawl.enforcer.check_sending(allowed)
    assert allowed.meta["robotspec"]["reason"] == "no_rule"
    crawl.know(b"User-agent: *\nDisallow: /yes\n")
    with pytest.raises(ForbiddenByRobots):
        crawl.enforcer.check_sending(refused)
    assert crawl.counts() == {"rules": 3, "refused_rule": 1}
    crawl.now += 10 * DAY

    async def send() -> None:  # a fetch begins, which needs a loop
        with pytest.raises(RulesExpired, match=URL):
            crawl.enforcer.check_sending(expired)

    run(send)
    assert crawl.counts() == {"rules": 2, "refused_rule": 1}
    assert crawl.robots.progress.account.requests().sent == 2
    assert [origin for origin, _ in crawl.fetches] == [A]


def test_a_request_that_was_sent_still_counts_when_it_is_decided_about_again(
    crawl: Obeying,
) -> None:
    """A retry is one more request; one that was not sent counts once."""
    request = applied(crawl)
    crawl.enforcer.check_sending(request)
    for _ in range(2):
        crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
        assert crawl.counts() == {"rules": 2}
    crawl.enforcer.exempt(request)
    assert crawl.counts() == {"rules": 1, "no_robots_txt": 1}


def test_a_page_that_was_sent_counts_beside_its_refused_retry(crawl: Obeying) -> None:
    """Whether another middleware has removed the summary or not."""
    for removed in (False, True):
        crawl.know()
        request = applied(crawl)
        crawl.enforcer.check_sending(request)
        if removed:
            del request.meta["robotspec"]
        crawl.know(b"User-agent: *\nDisallow: /yes\n")
        with pytest.raises(ForbiddenByRobots):
            crawl.enforcer.enforce(request, crawl.robots.decide_now(A, request, NOW))  # type: ignore[arg-type]
        number = removed + 1
        assert crawl.counts() == {"rules": number, "refused_rule": number}
    assert crawl.robots.progress.account.requests().after_sending == 0


def test_pages_of_no_robots_txt_are_not_counted_as_sent(crawl: Obeying) -> None:
    requests = crawl.robots.progress.account.requests()
    for url, sent in (("data:,page", 0), (f"{URL}/no", 1)):
        request = Request(url, meta={"dont_obey_robotstxt": True} if sent else {})
        crawl.enforcer.exempt(request)
        crawl.enforcer.check_sending(request)
        assert requests.sent == sent
    assert crawl.enforcer.check_sending(Request(URL)) is None, "nobody has decided about it"
    assert requests.sent == 1


# --- responses


def answered(crawl: Obeying, request: Request, url: str | None = None, **headers: str) -> Response:
    response = Response(url or request.url, headers=headers)
    crawl.enforcer.check_sending(request)
    return run(lambda: crawl.enforcer.process_response(request, response))


@pytest.mark.parametrize("leaves", [True, False])
@pytest.mark.parametrize("cached", [True, False])
def test_a_page_that_was_not_seen_leaving_was_answered_by_a_middleware(
    crawl: Obeying, leaves: bool, cached: bool
) -> None:
    """Unless it comes from the HTTP cache."""
    request = applied(crawl)
    response = Response(request.url, flags=["cached"] if cached else [])
    if leaves:
        crawl.enforcer.check_sending(request)
    for _ in range(2):  # a response may pass by twice
        run(lambda: crawl.enforcer.process_response(request, response))
    account = crawl.robots.progress.account
    is_answered = not leaves and not cached
    assert account.requests().answered == is_answered
    assert account.of_pages["robotspec/answered_by_middleware"] == is_answered
    assert account.requests().sent == leaves


@pytest.mark.parametrize("is_logged", [True, False])
def test_a_response_of_a_middleware_is_evidence_of_its_decision(
    crawl: Obeying, is_logged: bool
) -> None:
    answers: list[tuple[object, int]] = []
    observer = SimpleNamespace(
        on_decision=lambda *_: "the line" if is_logged else None,
        on_answered=lambda *noted: answers.append(noted),
    )
    crawl.enforcer._observer = crawl.robots.observer = cast("Any", observer)
    request = applied(crawl)
    crawl.enforcer.see_response(request, Response(request.url, status=404))
    assert answers == ([("the line", 404)] if is_logged else [])


@pytest.mark.parametrize(
    ("before", "after", "waits"),
    [(b"", b"", False), (b"", b"2", True), (b"1", b"2", False), (b"1", b"", False)],
)
def test_a_delay_that_begins_sends_a_page_back(
    monkeypatch: pytest.MonkeyPatch, before: bytes, after: bytes, waits: bool
) -> None:
    """EXT-01: it has not waited for a slot of the origin."""
    crawl = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=True)
    crawl.know(b"User-agent: *\nCrawl-delay: " + before)
    request = applied(crawl)
    crawl.know(b"User-agent: *\nCrawl-delay: " + after)
    with pytest.raises(RulesExpired) if waits else nullcontext():
        crawl.enforcer.check_sending(request)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_response_that_becomes_a_request_is_noted_once(crawl: Obeying, leaves: bool) -> None:
    """One that was not decided about is looked at where it ends."""
    request, other = applied(crawl), Request(f"{URL}/yes")
    if leaves:
        crawl.enforcer.check_sending(request)
    for each in (request, request, other):
        crawl.enforcer.see_response(each, Response(each.url))
    account = crawl.robots.progress.account
    assert account.requests().answered == (not leaves)
    assert account.of_pages[NEVER_DECIDED] == 0


def test_a_response_that_nobody_decided_about_is_counted(crawl: Obeying) -> None:
    refused = Request(f"{URL}/no")
    with pytest.raises(ForbiddenByRobots):
        crawl.enforcer.enforce(refused, crawl.robots.decide_now(A, refused, NOW))  # type: ignore[arg-type]
    own = Request(f"{URL}/robots.txt", meta={"_robotspec_download": "transfer"})
    for request in (refused, own, *(Request(f"{URL}/yes") for _ in range(3))):
        response = Response(request.url)
        run(lambda: crawl.enforcer.process_response(request, response))  # noqa: B023
    assert crawl.robots.progress.account.of_pages[NEVER_DECIDED] == 3


def test_the_final_url_is_decided_about(crawl: Obeying) -> None:
    """A download handler may follow redirects itself."""
    request = applied(crawl)
    assert answered(crawl, request, f"{URL}/other").url == f"{URL}/other"
    assert "_robotspec_tokens" not in request.meta
    assert answered(crawl, applied(crawl), f"{URL}/yes#part").url == f"{URL}/yes#part"
    with pytest.raises(ForbiddenByRobots, match="Disallow: /no"):
        answered(crawl, applied(crawl), f"{URL}/no")
    assert crawl.counts() == {"rules": 2, "refused_rule": 1}
    assert crawl.robots.progress.account.requests().after_sending == 1


def test_the_url_of_a_service_is_no_final_url(crawl: Obeying) -> None:
    """It got the page of another URL."""
    service = Request(f"{URL}/no", meta={**applied(crawl).meta, **SPLASH})
    assert answered(crawl, service).url == f"{URL}/no"


@pytest.mark.parametrize("leaves", [True, False])
def test_the_user_agent_that_was_sent_is_compared_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, leaves: bool
) -> None:
    """UAG-12: of a page that left, and that rules decided about."""
    crawl = Obeying(monkeypatch, ROBOTSPEC_USER_AGENT_TOKEN="ourbot")
    crawl.know()
    exempt = Request(f"{URL}/no", meta={"dont_obey_robotstxt": True}, headers={"User-Agent": "x"})
    crawl.enforcer.exempt(exempt)
    answered(crawl, exempt)
    assert "which is not part of the User-Agent" not in caplog.text
    for _ in range(2):
        request = applied(crawl, headers={"User-Agent": "another/1.0"})
        if leaves:
            answered(crawl, request)
        else:
            run(lambda: crawl.enforcer.process_response(request, Response(request.url)))  # noqa: B023
    assert caplog.text.count("which is not part of the User-Agent") == leaves


def test_the_final_url_is_not_looked_at_where_the_user_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_CHECK_FINAL_URL=False)
    crawl.know()
    assert answered(crawl, applied(crawl), f"{URL}/no").url == f"{URL}/no"


USE = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
FILE = b"User-agent: *\nContent-Usage: /yes train-ai=y\nDisallow: /no\n"


@pytest.mark.parametrize(
    ("settings", "header", "preference", "counted"),
    [
        ({}, None, None, {}),
        ({}, "train-ai=n", "disallow", {}),
        (USE, None, None, {"unknown": 1}),
        (USE, "train-ai=y", "allow", {"allow": 1}),
        (USE, "train-ai=n", None, {"disallow": 1}),
    ],
)
def test_usage_of_a_page_is_combined_with_its_header(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    header: str | None,
    preference: str | None,
    counted: dict[str, int],
) -> None:
    """USE-05: and it is counted once, whether it refuses the page or not."""
    crawl = Obeying(monkeypatch, **settings)
    crawl.know()
    request = applied(crawl)
    given = {} if header is None else {"Content-Usage": header}
    if preference is None and header is not None:
        with pytest.raises(ForbiddenUsage):
            answered(crawl, request, **given)
        assert crawl.counts() == {"refused_usage": 1}
    else:
        answered(crawl, request, **given)
        usage = request.meta["robotspec"].get("usage")
        assert (None if usage is None else usage.preferences["train-ai"]) == preference
    prefix = "robotspec/usage/train-ai/"
    pages = crawl.robots.progress.account.of_pages
    found = {name: number for name, number in pages.items() if name.startswith(prefix)}
    assert found == {f"{prefix}{name}": number for name, number in counted.items()}


@pytest.mark.parametrize("is_logged", [True, False])
def test_usage_of_a_page_is_evidence_of_its_decision(
    monkeypatch: pytest.MonkeyPatch, is_logged: bool
) -> None:
    crawl, uses = Obeying(monkeypatch, **USE), []
    crawl.know()
    observer = SimpleNamespace(
        on_decision=lambda *_: "the line" if is_logged else None,
        on_exempt=lambda *_: None,
        on_sent=lambda *_: None,
        on_usage=lambda *noted: uses.append(noted),
    )
    crawl.enforcer._observer = crawl.robots.observer = cast("Any", observer)
    answered(crawl, applied(crawl), **{"Content-Usage": "train-ai=y"})
    assert uses == ([("the line", b"train-ai=y", None)] if is_logged else [])


def test_usage_behind_a_redirect_is_evidence_of_the_decision_about_its_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl, uses = Obeying(monkeypatch, **USE), []
    crawl.know()
    observer = SimpleNamespace(
        on_decision=lambda request, answer, stage: stage,
        on_sent=lambda *_: None,
        on_usage=lambda *noted: uses.append(noted),
    )
    crawl.enforcer._observer = crawl.robots.observer = cast("Any", observer)
    answered(crawl, applied(crawl), f"{URL}/other", **{"Content-Usage": "train-ai=y"})
    assert uses == [("final_url", b"train-ai=y", None)]


@pytest.mark.parametrize("body", [RULES, FILE])
def test_scheduled_requests_are_looked_at_where_a_final_url_has_usage(
    monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    crawl = Obeying(monkeypatch)
    crawl.know(body)
    answered(crawl, applied(crawl, "/other"), f"{URL}/yes")
    scheduled = Request(f"{URL}/yes", meta={"robotspec": {"usage": object()}})
    crawl.crawler.signals.send_catch_log(signals.request_scheduled, request=scheduled, spider=None)
    assert ("usage" not in scheduled.meta["robotspec"]) is (body == FILE)


def test_usage_that_the_file_states_is_in_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch)
    crawl.know(FILE)
    stated = applied(crawl).meta["robotspec"]["usage"]
    assert stated.preferences == {"train-ai": "allow"}
    assert "usage" not in applied(crawl, "/other").meta["robotspec"]
    request = applied(crawl)
    answered(crawl, request, **{"Content-Usage": "train-ai=n"})
    assert request.meta["robotspec"]["usage"].preferences == {"train-ai": "disallow"}


@pytest.mark.parametrize("meta", [{"dont_obey_robotstxt": True}, {}])
def test_usage_of_an_unchecked_page_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch, meta: dict[str, Any]
) -> None:
    crawl = Obeying(monkeypatch, **USE)
    request = Request(f"{URL}/yes" if meta else "data:,page", meta=meta)
    crawl.enforcer.exempt(request)
    answered(crawl, request, **{"Content-Usage": "train-ai=n"})
    assert not any("usage" in name for name in crawl.robots.progress.account.of_pages)


def test_a_request_that_others_have_changed_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A middleware may send a copy, remove the summary, or exempt a request that has one.

    Or answer with a page of no origin.
    """
    crawl = Obeying(monkeypatch, **USE)
    crawl.know()
    bare, decided = applied(crawl), applied(crawl)
    del bare.meta["robotspec"]
    exempt = decided.replace(meta={**decided.meta, "dont_obey_robotstxt": True})
    crawl.enforcer.exempt(exempt)
    for request in (bare, decided.copy(), exempt):
        answered(crawl, request, **{"Content-Usage": "train-ai=n"})
    answered(crawl, applied(crawl), "data:,page", **{"Content-Usage": "train-ai=n"})
    assert not any("usage" in name for name in crawl.robots.progress.account.of_pages)


def test_a_refusal_by_a_rule_counts_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch, **USE)
    crawl.know(b"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /no\n")
    with pytest.raises(ForbiddenByRobots, match="Disallow: /no"):
        applied(crawl, "/no")
    assert not any("usage" in name for name in crawl.robots.progress.account.of_pages)
    with pytest.raises(ForbiddenUsage):
        applied(crawl)
    assert crawl.robots.progress.account.of_pages["robotspec/usage/train-ai/disallow"] == 1


def test_usage_is_removed_from_one_request_alone() -> None:
    """Another one may have the same summary; one without usage keeps its own."""
    summary = {"allowed": True, "usage": object()}
    same = {"allowed": True}
    stated = Request(URL, meta={"robotspec": summary})
    unstated, plain = Request(URL, meta={"robotspec": same}), Request(URL)
    for request in (stated, unstated, plain):
        remove_usage(request)
    assert stated.meta["robotspec"] == {"allowed": True}
    assert "usage" in summary
    assert unstated.meta["robotspec"] is same
    assert plain.meta == {}


# --- the request for a final URL


@pytest.mark.parametrize(
    ("url", "final"),
    [(f"{URL}/yes", None), (f"{URL}/yes#part", None), (f"{URL}/other", f"{URL}/other")],
)
def test_the_part_of_a_page_is_the_page(url: str, final: str | None) -> None:
    found = final_request(Request(f"{URL}/yes"), Response(url))
    assert (None if found is None else found.url) == final


def test_a_request_made_of_other_values_than_a_url_has_a_final_url() -> None:
    request = Numbered(1)
    final = final_request(request, Response(f"{URL}/other"))
    assert final is not None
    assert (final.url, final.priority, final.meta) == (f"{URL}/other", 1, {"c": "d"})
    assert final.headers == request.headers
    final.meta["e"] = "f"
    assert request.meta == {"c": "d"}
