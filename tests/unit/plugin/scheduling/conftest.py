"""No request here is passed on by Scrapy."""

from __future__ import annotations

import pytest

from scrapy_robotspec.plugin import _compat


@pytest.fixture(autouse=True)
def passed_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old releases of Scrapy pass a request on a turn of the event loop later."""
    monkeypatch.setattr(_compat, "when_passed_on", lambda call: call())
