"""Memory after a crawl of many origins."""

from __future__ import annotations

from tests.crawl.test_origins import visit_idle_origins


def test_nothing_but_record_and_rules_is_left_of_ten_thousand_idle_origins() -> None:
    """As the crawl of 1,000 origins in the usual tests, once a night."""
    visit_idle_origins(10_000)
