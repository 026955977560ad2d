"""A full disk under a store or a ``JOBDIR`` costs a warning, and no page too many."""

from __future__ import annotations

import resource
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawl import SAFE_QUEUES, Running, crawl
from tests.support.responses import once, reply
from tests.support.server import Server

ORIGINS = 20
LOG = "robots.txt store"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KB."""
    yield from file_system(tmp_path, "300k")


@pytest.fixture
def large_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 30 MB."""
    yield from file_system(tmp_path, "30m")


def file_system(tmp_path: Path, size: str) -> Iterator[Path]:
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(tmp_path)]
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


QUEUES = ["scrapy.squeues.PickleFifoDiskQueue", "scrapy.squeues.PickleLifoDiskQueue"]


@pytest.mark.parametrize("queue", QUEUES)
def test_a_crawl_with_its_jobdir_on_a_full_disk_loses_nothing(
    server: Server, disk: Path, queue: str
) -> None:
    (disk / "filled").write_bytes(bytes(260_000))
    sites = [server.site(f"127.0.7.{n}", "User-agent: *\nDisallow: /no\n") for n in range(1, 4)]
    urls = [site.url(f"/{n}{'x' * 200}") for n in range(100) for site in sites]
    result = crawl(urls, job_settings(disk, queue))
    assert result.ended_once(urls)
    assert "Traceback" not in result.log
    assert len(result.lines("WARNING", "A disk queue cannot be written")) == 1


@pytest.mark.parametrize("queue", QUEUES)
def test_a_disk_that_another_process_fills_stops_no_queue(
    server: Server, large_disk: Path, queue: str
) -> None:
    """Requests that wait on the disk can still be read."""
    is_full = threading.Event()
    robots = once(is_full.is_set, reply("User-agent: *\nDisallow: /no\n"))
    sites = [server.site(f"127.0.7.{n}", robots) for n in range(1, 4)]
    urls = [site.url(f"/{n}{'x' * 200}") for n in range(100) for site in sites]
    with Running(urls, job_settings(large_disk, queue)) as running:
        running.wait_until(lambda: running.all_given)
        with pytest.raises(OSError, match="No space"):
            (large_disk / "filled").write_bytes(bytes(40_000_000))
        is_full.set()
        result = running.finish()
    assert result.ended_once(urls)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
@pytest.mark.parametrize("queue", [*QUEUES, *SAFE_QUEUES.values()])
def test_files_that_must_not_grow_lose_no_request(
    server: Server, tmp_path: Path, queue: str
) -> None:
    """A limit of file sizes, as a quota: part of a request is written, and hides no other."""
    sites = [server.site(f"127.0.7.{n}", "User-agent: *\nDisallow: /no\n") for n in range(1, 4)]
    urls = [site.url(f"/{n}") for n in range(20) for site in sites]
    requests = [{"url": url, "meta": {"padding": "x" * 5000}} for url in urls]
    given = {**job_settings(tmp_path, queue), "LOG_LEVEL": "INFO"}
    with Running(requests, given) as running:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (52_000, hard))
        result = running.finish()
    assert result.ended_once(urls)
    assert "Traceback" not in result.log
    assert len(result.lines("WARNING", "A disk queue cannot be written")) == 1


def job_settings(folder: Path, queue: str) -> dict[str, str]:
    return {
        "JOBDIR": str(folder / "job"),
        "SCHEDULER_START_DISK_QUEUE": queue,
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",  # Scrapy's fails on a full disk
    }


def rules(number: int) -> str:
    lines = [f"Disallow: /{number}{n * 7919 % 10007}{n * n}" for n in range(1500)]
    return "\n".join(["User-agent: *", "Disallow: /no", *lines])
