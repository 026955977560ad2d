"""When the next page of an origin may go (EXT-01)."""

from __future__ import annotations

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling import crawl_delay
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay

A, B = Origin("http", "a.example", 80), Origin("http", "b.example", 80)


def test_any_time_before_the_first_page() -> None:
    assert CrawlDelay(60.0).next_at(A, 0.0) == 0.0


def test_pause_after_each_page() -> None:
    """EXT-01: from the last one on, and for its origin only."""
    pages = CrawlDelay(60.0)
    assert pages.take(A, 2.0, 100.0) == 102.0
    assert pages.take(A, 2.0, 110.0) == 112.0
    assert (pages.next_at(A, 111.0), pages.next_at(B, 111.0)) == (112.0, 0.0)


def test_no_longer_than_the_setting() -> None:
    """ROBOTSPEC_CRAWL_DELAY_MAX: a file cannot stop the crawl."""
    assert CrawlDelay(60.0).take(A, 1e308, 100.0) == 160.0
    assert CrawlDelay(60.0).take(A, float("inf"), 100.0) == 160.0


def test_a_clock_that_is_put_back_makes_no_pause_longer() -> None:
    """Neither by the page before nor by the robots.txt."""
    pages = CrawlDelay(60.0)
    pages.take(A, 2.0, 10_000.0)
    assert pages.next_at(A, 10_001.0) == 10_002.0
    assert pages.next_at(A, 500.0) == 0.0
    assert pages.next_at(B, 500.0, asked=10_000.0, delay=2.0) == 0.0
    assert pages.next_at(B, 500.0, asked=500.0, delay=2.0) == 502.0


def test_times_that_have_passed_are_forgotten() -> None:
    """SAF: its memory does not grow with the origins of a crawl; times to come are kept."""
    pages = CrawlDelay(60.0)
    pages.take(A, 60.0, 0.0)
    for number in range(3 * crawl_delay._SWEEP_AT):
        pages.take(Origin("http", f"{number}.example", 80), 1.0, number / 1000)
        assert len(pages._next) <= crawl_delay._SWEEP_AT
    assert pages.next_at(A, 0.0) == 60.0
