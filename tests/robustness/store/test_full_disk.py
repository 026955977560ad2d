"""A full disk under a store or a ``JOBDIR`` costs a warning, and no page too many."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawl import crawl
from tests.support.server import Server

ORIGINS = 20
LOG = "robots.txt store"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KB."""
    words = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(tmp_path)]
    try:
        mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("only root can mount a file system")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.mark.parametrize("is_full_at_start", [False, True])
def test_a_crawl_on_a_full_disk(server: Server, disk: Path, is_full_at_start: bool) -> None:
    """Nothing is allowed, lost or asked again; the log does not say that a full store works."""
    if is_full_at_start:
        with pytest.raises(OSError, match="No space"):
            (disk / "filled").write_bytes(bytes(400_000))
    sites = [server.site(f"127.0.7.{n}", rules(n)) for n in range(1, ORIGINS + 1)]
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    settings = {
        "ROBOTSPEC_CACHE": f"sqlite:///{disk}/robots.db",
        "ROBOTSPEC_CONCURRENT_FETCHES": 4,
        "ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.2,
        "ROBOTSPEC_HOLD_TIMEOUT": 1,
    }
    result = crawl(urls, settings)
    assert result.ended_once(urls)
    assert "Traceback" not in result.log
    assert [site.pages_asked for site in sites] == [["/yes"]] * ORIGINS
    assert [len(site.robots_asked) for site in sites] == [1] * ORIGINS
    (warning,) = result.lines("WARNING", LOG, "fails")
    assert "ROBOTSPEC_CACHE" in warning
    assert result.lines("INFO", LOG) == []
    if not is_full_at_start:  # records that were written before are whole
        again = crawl(urls, settings)
        assert again.ended_once(urls)
        assert any(len(site.robots_asked) == 1 for site in sites)
        assert all(site.pages_asked == ["/yes"] * 2 for site in sites)


def test_a_crawl_with_its_jobdir_on_a_full_disk_ends(server: Server, disk: Path) -> None:
    """queuelib tears a request that it writes last; the others go on from memory or disk."""
    (disk / "filled").write_bytes(bytes(260_000))
    sites = [server.site(f"127.0.7.{n}", "User-agent: *\nDisallow: /no\n") for n in range(1, 4)]
    urls = [site.url(f"/{n}{'x' * 200}") for n in range(100) for site in sites]
    settings = {
        "JOBDIR": str(disk / "job"),
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",  # Scrapy's fails on a full disk
    }
    result = crawl(urls, settings)
    assert result.stats["finish_reason"] == "finished"
    assert set(result.ends.values()) == {1}
    assert len(result.ends) >= len(urls) - 30
    assert len(result.lines("WARNING", "A disk queue cannot be written")) == 1


def rules(number: int) -> str:
    lines = [f"Disallow: /{number}{n * 7919 % 10007}{n * n}" for n in range(1500)]
    return "\n".join(["User-agent: *", "Disallow: /no", *lines])
