"""Browsers: which requests of Firefox and WebKit are checked, as these describe them.

What a check does is tested with scrapy-playwright in ``tests/plugins``.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scrapy_robotspec.plugin.browser.handler import Browsers, Once


class Page:
    """A page that Scrapy opened."""


PAGE = Page()
MAIN = SimpleNamespace(parent_frame=None, page=PAGE)
INNER = SimpleNamespace(parent_frame=MAIN, page=PAGE)


class Guard:
    """Refuses everything, and notes whether the page was going there."""

    def __init__(self) -> None:
        self.navigates: list[bool] = []

    async def allows(self, url: str, visit: Any, *, navigates: bool) -> bool:
        self.navigates.append(navigates)
        return False


def request(kind: str, frame: Any, *, navigation: bool) -> Any:
    return SimpleNamespace(
        url="http://example.com/no",
        resource_type=kind,
        frame=frame,
        is_navigation_request=lambda: navigation,
    )


def check(asked: Any, *, every: bool) -> tuple[bool, list[bool]]:
    """Whether the request is aborted, and which checks were made."""
    guard = Guard()
    browsers = Browsers(cast("Any", guard), None, every=every)
    browsers._visits[PAGE] = cast("Any", "visit")
    return asyncio.run(browsers.aborts(asked)), guard.navigates


@pytest.mark.parametrize("every", [False, True], ids=["page", "all"])
def test_a_navigation_of_the_main_frame_is_checked_in_both_modes(every: bool) -> None:
    navigation = request("document", MAIN, navigation=True)
    assert check(navigation, every=every) == (True, [True])


@pytest.mark.parametrize(
    "asked",
    [
        request("document", INNER, navigation=True),  # <iframe>
        request("other", MAIN, navigation=True),  # <object> and <embed> in Firefox 153
        request("image", MAIN, navigation=False),
    ],
    ids=["iframe", "object", "image"],
)
def test_what_a_page_embeds_is_checked_in_mode_all_and_ends_no_page(asked: Any) -> None:
    assert check(asked, every=False) == (False, [])
    assert check(asked, every=True) == (True, [False])


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
