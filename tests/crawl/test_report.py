"""ROBOTSPEC_REPORT: what it contains, and that it is valid at every moment of a crawl."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from tests.support.command_line import PROJECT_SETTINGS, validator
from tests.support.crawl import MODES, Running, crawl
from tests.support.html_page import check
from tests.support.responses import after, in_turn, redirect, reply, reset, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"


def rows(path: Path) -> dict[str, dict[str, Any]]:
    """The lines of a report by origin."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        validator("report").validate(row)
    return {row["origin"]: row for row in found}


def test_a_shell_can_write_a_report(server: Server, tmp_path: Path) -> None:
    """It makes its engine before it has a spider."""
    site = server.site("127.0.0.2", RULES)
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shell_settings\n")
    report = 'ROBOTSPEC_REPORT = "{name}.jsonl"\n'
    (tmp_path / "shell_settings.py").write_text(PROJECT_SETTINGS + report)
    for path, code in (("/yes", "print('status', response.status)"), ("/no", "print(response)")):
        words = [sys.executable, "-m", "scrapy", "shell", site.url(path), "-c", code]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=180)
        assert "AssertionError" not in done.stderr
        assert ("status 200" in done.stdout) is (path == "/yes")
    assert site.pages_asked == ["/yes"]
    assert (tmp_path / "default.jsonl").exists()


def test_contents_at_the_end_of_a_crawl(server: Server, tmp_path: Path) -> None:
    """Rules, a redirect, a failure that ends, an override: all of it."""
    shop = server.site("127.0.0.2", RULES)
    moved = server.site("127.0.0.3", redirect(shop.url("/robots.txt")))
    down = server.site("127.0.0.4", in_turn(reply("", 503), reply("", 404)))
    ours = server.site("127.0.0.5", RULES)
    lost = server.site("127.0.0.6", reset())
    sites = (shop, moved, down, ours, lost)
    urls = [site.url(f"/{n}") for site in sites for n in ("yes", "no", "no2")]
    path = tmp_path / "report.jsonl"
    settings = {
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
        "ROBOTSPEC_RETRY_MAX_DELAY": 0.2,
        "ROBOTSPEC_REPORT": str(path),
        "ROBOTSPEC_OVERRIDES": {"127.0.0.5": "disallow"},
        "ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.1,
    }
    began = time.time()
    result = crawl(urls, settings)
    assert result.ended_once(urls)
    found = rows(path)
    assert sorted(found) == sorted(site.url("") for site in sites)
    row = found[shop.url("")]
    assert (row["let_through"], row["refused"], row["answer"]) == (1, 2, "rules")
    (refusal,) = row["refused_by"]
    assert sorted(refusal.pop("examples")) == [shop.url("/no"), shop.url("/no2")]
    assert refusal == {
        "reason": "rule",
        "line": 2,
        "rule": "Disallow: /no",
        "pattern": "/no",
        "count": 2,
    }
    assert found[moved.url("")]["redirects"] == [
        {"url": moved.url("/robots.txt"), "status": 301, "target": shop.url("/robots.txt")}
    ]
    row = found[down.url("")]
    assert (row["failures"], row["failure"]) == ({"HTTP status 503": 1}, None)
    assert (row["waited"], row["given_up"]) == (3, 0)
    assert row["wait_seconds"] > 0
    assert row["first_asked"] == row["wait_began"] < row["answered"]
    assert time.strftime("%Y-%m-%dT%H:%M", time.gmtime(began)) <= row["first_asked"]
    assert row["crawl_delay"] == 0.1
    row = found[ours.url("")]
    assert (row["asked"], row["refused"], row["overrides"]) == (0, 3, {"disallow": 3})
    row = found[lost.url("")]
    assert (row["waited"], row["given_up"], row["failed"]) == (0, 3, 2)
    assert all(row["pending_since"] is None for row in found.values())


def test_a_page_at_the_end_of_a_crawl(server: Server, tmp_path: Path) -> None:
    """A page contains what happened in the crawl."""
    site, down = server.site("127.0.0.2", RULES), server.site("127.0.0.3", reply("", 503))
    urls = [site.url(path) for path in ("/yes", "/no", "/no2")] + [down.url("/yes")]
    path = tmp_path / "{name}.html"
    crawl(urls, {"ROBOTSPEC_REPORT": str(path), "ROBOTSPEC_HOLD_TIMEOUT": 0.2})
    text = " ".join(check((tmp_path / "plain.html").read_text(encoding="utf-8")).text.split())
    assert "robots.txt report of the spider plain" in text
    assert "1 of 4 requests went out, 3 refused" in text
    assert "ended at" in text
    assert "(finished)" in text
    assert "examplebot (USER_AGENT)" in text
    assert f"21Disallow: /noline 2 {site.url('/no')}and 1 more" in text
    assert "given up after" in text
    assert re.search(rf"{re.escape(down.url(''))} [\d.]+ s, 1 request", text)
    assert "2Disallow: /norefused 2 requests" in text


@pytest.mark.parametrize("mode", MODES)
def test_a_crawl_under_way_names_what_waits_and_why(
    server: Server, tmp_path: Path, mode: str
) -> None:
    """Server errors, refused connections, silence and crawl delays are told apart.

    The heading adds up at every moment.
    """
    good = server.site("127.0.0.2", RULES)
    down = server.site("127.0.0.3", reply("", 503))
    silent = server.site("127.0.0.4", silence())
    slow = server.site("127.0.0.5", "User-agent: *\nCrawl-delay: 30")
    gone = "http://127.0.0.6:9"
    sites = [good.url(""), down.url(""), silent.url(""), slow.url(""), gone]
    urls = [f"{site}/yes/{number}" for site in sites for number in range(4)]
    path = tmp_path / "report.html"
    settings = {
        "ROBOTSPEC_REPORT": str(path),
        "ROBOTSPEC_CRAWL_DELAY": True,
        "ROBOTSPEC_RETRY_DELAY": 30,
    }
    expected = {
        "HTTP status 503": down.url(""),
        "connection refused": gone,
        "no answer so far": silent.url(""),
        "crawl delay of 30 s": slow.url(""),
    }

    def text() -> str:
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        if heading := re.search(r"<h1>(\d.*)</h1>", source):
            numbers = [int(number) for number in re.findall(r"\d+", heading[1])]
            assert sum(numbers) == 2 * max(numbers), heading[1]
        return " ".join(check(source).text.split()) if source else ""

    with Running(urls, settings, mode=mode) as running:
        running.wait_until(
            lambda: all(f"{head}{site}" in text() for head, site in expected.items())
        )
        shown = text()
        running.send(signal.SIGKILL)
        running.finish()
    assert "4 of 20 requests went out, 0 refused, 16 waiting" in shown
    assert "Nothing yet for 16 requests that wait" in shown
    for head, site in expected.items():
        row = shown.partition(f"{head}{site} ")[2].partition("http:")[0]
        assert "4 requests" in row
        assert ("next attempt in" in row) is (site in (down.url(""), gone))


def test_a_killed_crawl_leaves_the_last_state(server: Server, tmp_path: Path) -> None:
    """SIGKILL: the file is whole, and says what the crawl was waiting for."""
    site, silent = server.site("127.0.0.2", RULES), server.site("127.0.0.3", silence())
    path = tmp_path / "report.jsonl"
    urls = [site.url("/no"), silent.url("/yes")]

    def is_complete() -> bool:
        found = rows(path) if path.exists() else {}
        return len(found) == 2 and found[site.url("")]["refused"] == 1

    with Running(urls, {"ROBOTSPEC_REPORT": str(path)}) as running:
        running.wait_until(is_complete)
        running.send(signal.SIGKILL)
        assert running.finish().exit_code == -signal.SIGKILL
    found = rows(path)
    assert found[site.url("")]["refused"] == 1
    assert found[silent.url("")]["pending_since"] is not None
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", MODES)
def test_a_crawl_may_end_while_its_report_is_written(
    server: Server, tmp_path: Path, mode: str
) -> None:
    """On a slow disk, the contents of the end come after those that are on their way.

    They name the origins that the crawl waited for.
    """
    silent = server.site("127.0.0.3", silence())
    path = tmp_path / "report.html"
    settings = {
        "ROBOTSPEC_REPORT": str(path),
        "EXTENSIONS": {
            "tests.support.event_log.Notes": 0,
            "tests.crawl.middlewares.SlowDisk": 1,
        },
    }
    with Running([silent.url("/yes")], settings, mode=mode) as running:
        running.wait_until(lambda: silent.robots_asked)  # the file was created before that
        running.wait_until(lambda: list(tmp_path.glob(".report.html.*")))
        running.send(signal.SIGINT)
        result = running.finish()
    assert result.lines(" ERROR: ") == []
    text = path.read_text(encoding="utf-8")
    assert "(shutdown)" in text
    assert "no answer so far" in text
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_cannot_be_written_any_more_does_no_harm(
    server: Server, tmp_path: Path
) -> None:
    """One ERROR, however often it is tried, and one at the end; every request ends."""
    site = server.site("127.0.0.2", RULES, page=after(5, reply("page")))
    folder = tmp_path / "reports"
    folder.mkdir()
    urls = [site.url("/yes"), site.url("/no")]
    settings = {"ROBOTSPEC_REPORT": str(folder / "report.jsonl")}
    with Running(urls, settings) as running:
        running.wait_until(lambda: site.pages_asked)
        shutil.rmtree(folder)
        result = running.finish()
    assert result.exit_code == 0
    assert result.ended_once(urls)
    line, last = result.lines(" ERROR: ", "ROBOTSPEC_REPORT")
    assert "No such file or directory" in line
    assert last.endswith("report.jsonl is not complete")
    assert "Traceback" not in result.log


def test_a_crawl_does_not_start_where_no_report_can_be_made(server: Server, tmp_path: Path) -> None:
    """Found out with the spider's name: the message names setting, remedy and obstacle."""
    site = server.site("127.0.0.2", RULES)
    (tmp_path / "plain").touch()
    settings = {"ROBOTSPEC_REPORT": str(tmp_path / "{name}" / "report.jsonl")}
    result = crawl([site.url("/yes")], settings)
    assert result.exit_code == 1
    # Scrapy 2.13 adds an AttributeError of its own to every error in a downloader middleware.
    message = result.log.strip().splitlines()[-1] if version_info >= (2, 14) else result.log
    assert "ConfigurationError: ROBOTSPEC_REPORT = " in message
    assert "a file that this process can write (" in message
    assert f"File exists: {str(tmp_path / 'plain')!r})" in message
    assert server.log == []
