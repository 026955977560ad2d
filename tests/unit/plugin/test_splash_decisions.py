"""The page behind a request to a service is decided about again when it leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request

from scrapy_robotspec.plugin.deciding.request_policy import Answer
from scrapy_robotspec.plugin.splash import decide_about_page
from tests.unit.plugin.obeying import URL, Obeying, run


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        (f"{URL}/yes", True),
        (f"{URL}/no", False),
        ("http://unknown.example/", None),
        ("data:,page", None),
    ],
)
def test_a_page_is_decided_about_once_more_where_its_rules_are_known(
    monkeypatch: pytest.MonkeyPatch, url: str, allowed: bool | None
) -> None:
    """A refusal is logged as evidence; else the decision about the page stands."""
    crawl, noted = Obeying(monkeypatch), []
    crawl.know()
    observer = SimpleNamespace(on_decision=lambda page, answer, stage: noted.append(page.url))
    crawl.robots.observer = cast("Any", observer)
    meta = {"splash": {"args": {"url": url}}, "_splash_processed": True, "robotspec": {}}

    async def decide() -> tuple[Request, Answer] | None:
        return decide_about_page(crawl.robots, Request("http://splash.example/", meta=meta))

    found = run(decide)
    assert (None if found is None else (found[0].url, found[1].decision.allowed)) == (
        None if allowed is None else (url, allowed)
    )
    assert noted == ([url] if allowed is False else [])
