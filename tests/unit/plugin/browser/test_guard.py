"""The guard: the requests of one page share a visit, and end with its download."""

from __future__ import annotations

import asyncio

from scrapy import Request
from scrapy.http import Response

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Refusal, Visit
from scrapy_robotspec.plugin.deciding.request_policy import Answer
from tests.unit.plugin.obeying import Numbered
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

URL = "https://example.com/a"


def visit(**meta: object) -> Visit:
    return Visit(Request(URL, meta=dict(meta)), ("examplebot",))


def refusal(url: str) -> Refusal:
    return Request(url), Answer(Decision(allowed=False, reason="rule"), None)


def test_a_request_made_of_other_values_than_a_url_has_a_visit() -> None:
    request = Numbered(1)
    kept = Visit(request, ()).request
    assert (kept.url, kept.headers, kept.meta) == (request.url, request.headers, request.meta)
    assert kept.meta is not request.meta


def test_the_first_refusal_of_a_download_counts() -> None:
    opened, closed, first = visit(), visit(), refusal("https://example.com/1")
    opened.note_refusal(first)
    opened.note_refusal(refusal("https://example.com/2"))
    closed.is_open = False
    closed.note_refusal(first)
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
        guard = BrowserGuard(crawler_with_engine())

        async def check() -> bool:
            await asyncio.sleep(0.01)
            order.append("checked")
            return True

        async def send() -> Response:
            opened.checks.append(asyncio.ensure_future(check()))
            return Response(URL)

        await guard.download(opened, send)
        order.append("ended")
        return order

    assert asyncio.run(run()) == ["checked", "ended"]
