"""Groups with many agents and other lines (EXT-01, SAF-02)."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import (
    groups,
)
from scrapy_robotspec.protocol.agents import key_of
from scrapy_robotspec.protocol.robotstxt import RobotsTxt


@pytest.mark.parametrize("edition", EDITIONS)
def test_agents_and_other_lines_are_not_multiplied(edition: str) -> None:
    """EXT-01, SAF-02: 2,000 agents in turn with 2,000 delays; each name is read a few times."""
    body = b"".join(
        b"User-agent: a%s\nCrawl-delay: %d\n" % (b"-" * (n % 9), n) for n in range(2_000)
    )
    robots = RobotsTxt.parse(body + b"Allow: /\n", replace(EDITIONS[edition], other_fields=True))
    with patch.object(groups, "key_of", wraps=key_of) as reads:
        assert robots.crawl_delay("a") == 1_999
        assert len(robots.other("a")) == 2_000
    assert reads.call_count <= 4 * 2_000 * 2
