"""Visit and Once: what requests of one page, and pages of one browser, share."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.plugin.browser.browsers import Once
from scrapy_robotspec.plugin.browser.guard import Refusal, Visit
from scrapy_robotspec.plugin.settings.request_policy import Answer

URL = "https://example.com/a"


def visit(**meta: object) -> Visit:
    return Visit(Request(URL, meta=dict(meta)), ("examplebot",))


def refusal(url: str) -> Refusal:
    return Refusal(Request(url), Answer(Decision(allowed=False, reason="rule"), None))


def test_the_first_refusal_of_a_download_counts() -> None:
    opened, closed, first = visit(), visit(), refusal("https://example.com/1")
    opened.refuse(first)
    opened.refuse(refusal("https://example.com/2"))
    closed.is_open = False
    closed.refuse(first)
    assert (opened.refusal, closed.refusal) == (first, None)


def test_only_the_first_navigation_to_the_request_itself_is_known() -> None:
    opened = visit()
    assert opened.begins_at(URL)
    assert not opened.begins_at(URL)
    assert not visit().begins_at("https://example.com/b")
    assert Visit(Request(f"{URL}#part"), ()).begins_at(URL)  # browsers do not send fragments


def test_a_page_may_be_exempt() -> None:
    assert visit(dont_obey_robotstxt=True).exempt
    assert not visit().exempt


def test_a_download_ends_after_the_checks_that_it_has_caused() -> None:
    async def run() -> list[str]:
        opened, order = visit(), []

        async def check() -> Refusal | None:
            await asyncio.sleep(0.01)
            order.append("checked")
            return None

        async def download() -> None:
            await opened.checked()
            order.append("ended")

        checking = asyncio.ensure_future(check())
        opened.check(checking)
        await asyncio.gather(download(), checking)
        await opened.checked()  # nothing to wait for
        return order

    assert asyncio.run(run()) == ["checked", "ended"]


class Key:
    """A browser."""


def test_once_runs_once_for_each_object() -> None:
    """A caller that is cancelled does not stop the others."""
    ran: list[Key] = []

    async def start(key: Key) -> str:
        ran.append(key)
        await asyncio.sleep(0.01)
        return "started"

    async def run() -> list[str]:
        once, keys = Once(start), [Key(), Key()]
        first = asyncio.ensure_future(once(keys[0]))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await asyncio.gather(*(once(key) for key in keys * 3))

    assert asyncio.run(run()) == ["started"] * 6
    assert len(ran) == 2
