"""Fixtures of the tests of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.plugin.scheduling.crawlers import engine_with_delay

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine


@pytest.fixture
def engine() -> ExecutionEngine:
    """An engine whose download slots have a delay."""
    return engine_with_delay()
