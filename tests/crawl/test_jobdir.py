"""JOBDIR with many origins, few open files and long host names."""

from __future__ import annotations

import resource
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from tests.support.crawl import SAFE_QUEUES, Result, Running, crawl
from tests.support.responses import closing, once, reply, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
#: The disk queue classes of Scrapy.
QUEUES: dict[str, dict[str, str]] = {"files": {}}
if version_info >= (2, 19):
    QUEUES["sqlite"] = SAFE_QUEUES
#: Enough for a crawl, and not for a queue of each of these origins.
OPEN_FILES, ORIGINS = 220, 150


def tracebacks(*results: Result) -> list[str]:
    """The messages that were logged with a traceback."""
    parts = [part for result in results for part in result.log.split("Traceback")[1:]]
    return [part[:3000] for part in parts]


def limit_open_files(running: Running) -> None:
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
@pytest.mark.parametrize("queue", QUEUES.values(), ids=QUEUES)
def test_origins_may_outnumber_open_files(
    server: Server, tmp_path: Path, queue: dict[str, str]
) -> None:
    """Every origin has waiting requests, is interrupted, and resumed; nothing is lost."""
    given = threading.Event()
    robots = closing(once(given.is_set, reply(RULES)))
    sites = [
        server.site(f"127.1.{n // 250}.{n % 250 + 1}", robots, page=closing(reply("page")))
        for n in range(ORIGINS)
    ]
    urls = [site.url(path) for path in ("/yes", "/no") for site in sites]
    settings = {
        "JOBDIR": str(tmp_path),
        "LOG_LEVEL": "INFO",
        "ROBOTSPEC_CONCURRENT_FETCHES": 16,
        **queue,
    }
    with Running(urls, settings) as running:
        limit_open_files(running)
        running.wait_until(lambda: running.all_given and server.log, 200)
        given.set()
        running.wait_until(lambda: any(site.pages_asked for site in sites))
        running.send(signal.SIGINT)
        first = running.finish(200)
    assert 0 < len(first.ends) < len(urls)
    with Running([], settings) as running:
        limit_open_files(running)
        second = running.finish(300)
    assert first.ends + second.ends == dict.fromkeys(urls, 1)
    assert {path for site in sites for path in site.pages_asked} == {"/yes"}
    assert tracebacks(first, second) == []


def host_of(length: int) -> str:
    """A host name of *length* letters, in labels of at most 63."""
    labels = [f"{length:03}".ljust(63, "h"), *["h" * 63] * 3]
    return ".".join(labels)[: length - 1].rstrip(".").ljust(length, "x")


LENGTHS = (50, 107, 108, 109, 150, 222, 223, 253)


def test_host_names_of_any_length_wait_on_disk(server: Server, tmp_path: Path) -> None:
    """From ``start()``, after an interruption, and beside usual hosts."""
    server.default = lambda host, port: server.site(host, silence(), port=port)
    proxy = f"http://127.0.0.1:{server.port}"
    usual = server.site("127.0.0.2", RULES)
    long = [f"http://{host_of(length)}/{kind}" for length in LENGTHS for kind in ("yes", "no")]
    entries: list[Any] = [{"url": url, "meta": {"proxy": proxy}} for url in long]
    settings = {"JOBDIR": str(tmp_path), "LOG_LEVEL": "INFO"}
    with Running([*entries, usual.url("/yes")], settings) as running:
        running.wait_until(lambda: running.all_given and usual.pages_asked)
        running.send(signal.SIGINT)
        first = running.finish(30)
    assert first.ended_once([usual.url("/yes")])
    for site in server.sites:
        site.robots = reply(RULES)
    second = crawl([], settings)
    assert second.ended_once(long)
    assert set(second.responses) == {url for url in long if url.endswith("yes")}
    assert tracebacks(first, second) == []


def test_requests_that_no_disk_queue_takes_are_crawled_from_memory(
    server: Server, tmp_path: Path
) -> None:
    """The folder of the queues has become a file."""
    site = server.site("127.0.0.2", RULES)
    urls = [site.url(path) for path in ("/yes", "/no", "/yes2")]
    result = crawl(urls, {"JOBDIR": str(tmp_path)}, spider="with_a_damaged_jobdir")
    assert result.ended_once(urls)
    assert sorted(site.pages_asked) == ["/yes", "/yes2"]
    assert len(result.lines("WARNING", "A disk queue cannot be written")) == 1
    assert result.stats["scheduler/unserializable"] > 0


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_idle_connections_may_outnumber_open_files(server: Server) -> None:
    """Servers that keep connections open: no robots.txt, and no page, lacks a file for its own."""
    sites = [server.site(f"127.2.{n // 250}.{n % 250 + 1}", RULES) for n in range(240)]
    urls = [site.url("/yes") for site in sites]
    with Running(urls, {"RETRY_ENABLED": False}) as running:
        resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (200, 200))
        result = running.finish(100)
    assert result.ended_once(urls)
    assert set(result.responses) == set(urls)
    assert "robotspec/retry_count" not in result.stats


@pytest.mark.skipif(version_info < (2, 19), reason="older releases read each other's files")
def test_a_jobdir_of_an_older_scrapy_is_named(server: Server, tmp_path: Path) -> None:
    """Its file of fingerprints is text, of which nothing is read; one of our own causes no line."""
    site = server.site("127.0.0.2", RULES)
    job = tmp_path / "job"
    job.mkdir()
    seen = job / "requests.seen"
    seen.write_text("3f786850e387550fdab836ed7e6dc881de23001b\n")
    settings = {"JOBDIR": str(job)}
    result = crawl([site.url("/a")], settings)
    (line,) = result.lines("WARNING", "Scrapy 2.18 or older")
    assert str(seen) in line
    seen.unlink()
    for _ in range(2):
        assert not crawl([site.url("/b")], settings).lines("Scrapy 2.18 or older")
    assert seen.stat().st_size
