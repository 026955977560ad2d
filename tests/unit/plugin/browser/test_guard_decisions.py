"""BrowserGuard: what a page may load, by the rules, the visit and the clock."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from scrapy import Request

from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Visit
from tests.unit.plugin.obeying import RULES, URL, Obeying, run, turns

CHECKED, ABORTED = "robotspec/browser/checked", "robotspec/browser/aborted"


def page(path: str = "/yes", **meta: Any) -> Request:
    return Request(f"{URL}{path}", meta=meta)


@pytest.mark.parametrize("navigates", [True, False])
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(
    ("url", "allowed", "counted"),
    [
        (f"{URL}/yes", True, (1, None)),
        (f"{URL}/no", False, (1, 1)),
        ("data:,image", True, (None, None)),
    ],
)
def test_a_page_loads_what_the_rules_allow(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    url: str,
    allowed: bool,
    counted: tuple[int | None, int | None],
    is_known: bool,
    navigates: bool,
) -> None:
    """A refused navigation ends the download of its page; a part or a new window does not."""
    crawl = Obeying(monkeypatch)
    crawl.know()
    caplog.set_level(logging.DEBUG, "scrapy_robotspec")
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> tuple[bool, Visit | None]:
        visit = guard.visit(page()) if is_known else None
        return await guard.allows(url, visit, navigates=navigates), visit

    answer, visit = run(ask)
    assert answer is allowed
    assert (crawl.stat(CHECKED), crawl.stat(ABORTED)) == counted
    if visit is not None:
        assert (visit.refusal is not None) is (navigates and not allowed)
        assert len(visit.checks) == navigates, "the download waits for navigations alone"
    shown = f"for {URL}/yes:" if is_known else "for a page:"
    assert [shown in line for line in caplog.messages if "Aborted" in line] == [True] * (
        not allowed
    )


def test_a_download_knows_at_once_of_a_navigation_that_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be at its end, and would not wait for a check that comes a turn of the loop later."""
    crawl = Obeying(monkeypatch)
    crawl.know()
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> int:
        visit = guard.visit(page())
        asked = asyncio.ensure_future(guard.allows(f"{URL}/no", visit, navigates=True))
        await turns(1)
        known = len(visit.checks)
        await asked
        return known

    assert run(ask) == 1


def test_a_page_loads_by_the_tokens_of_its_own_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the page is not known, by those of the crawl."""
    crawl = Obeying(monkeypatch)
    crawl.know(b"User-agent: other\nDisallow: /\n")
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> list[bool]:
        visit = guard.visit(page(robotspec_user_agent_token="other"))
        assert (visit.tokens, guard.visit(page()).tokens) == (("other",), ("examplebot",))
        return [await guard.allows(URL, each, navigates=False) for each in (visit, None)]

    assert run(ask) == [False, True]


def test_an_exempt_request_needs_no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-01."""
    guard = BrowserGuard(Obeying(monkeypatch).crawler)

    async def ask() -> Visit:
        return guard.visit(page(dont_obey_robotstxt=True))

    assert run(ask).tokens == ()


def test_a_browser_waits_for_a_robots_txt(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Obeying(monkeypatch)
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> list[bool]:
        asked = [
            asyncio.ensure_future(guard.allows(f"{URL}{path}", None, navigates=False))
            for path in ("/yes", "/no")
        ]
        await turns()
        crawl.end_fetches(RULES)
        return list(await asyncio.gather(*asked))

    assert run(ask) == [True, False]


def test_a_browser_does_not_wait_longer_than_its_navigation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = Obeying(monkeypatch, PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT=20)
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> str:
        visit = guard.visit(page())
        assert not await guard.allows(f"{URL}/yes", visit, navigates=True)
        assert visit.refusal is not None
        return visit.refusal[1].decision.detail

    assert "no answer within 0.016 s" in run(ask)


@pytest.mark.parametrize(
    ("timeout", "expected"), [(None, 24.0), (10_000, 8.0), (0, 50.0), (100_000, 50.0)]
)
def test_a_wait_ends_before_the_navigation_and_with_the_fetch(
    monkeypatch: pytest.MonkeyPatch, timeout: int | None, expected: float
) -> None:
    """Playwright's 30 s apply without a setting; 0: a navigation has no limit."""
    given = {"ROBOTSPEC_FETCH_TIMEOUT": 50, "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": timeout}
    assert BrowserGuard(Obeying(monkeypatch, **given).crawler).max_wait == expected


@pytest.mark.parametrize("is_known", [True, False])
def test_a_browser_in_another_thread_is_decided_about_in_the_crawls(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Before the first visit no loop is known: the browser's own decides."""
    threads: list[int] = []

    def token(request: Request, crawler: object) -> str:
        threads.append(threading.get_ident())
        return "examplebot"

    crawl = Obeying(monkeypatch, ROBOTSPEC_USER_AGENT_TOKEN=token)
    crawl.know()
    guard = BrowserGuard(crawl.crawler)

    async def ask() -> bool:
        if is_known:
            guard.visit(page())
        threads.clear()

        def in_thread() -> bool:
            return asyncio.run(guard.allows(f"{URL}/no", None, navigates=False))

        return await asyncio.to_thread(in_thread)

    assert run(ask) is False
    assert {each == threading.get_ident() for each in threads} == {is_known}
