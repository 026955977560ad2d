"""scrapy-playwright with a real Chromium, judged by the requests that its site received.

Needs scrapy-playwright (``pip install scrapy-playwright``) and Chromium (``chromium`` on the PATH
or in ``CHROMIUM``).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.evidence.replay import replay
from tests.plugins import browser_site
from tests.plugins.browsing import (
    ALL,
    CHROMIUM,
    IMPATIENT,
    LAUNCH,
    NAVIGATIONS,
    NO,
    OFF,
    RESOURCES,
    SERVICE_WORKERS,
    SETTINGS,
    SPIDERS,
    WITHOUT_DEVTOOLS,
    browse,
    html,
    visit,
)
from tests.plugins.sites import need
from tests.support.account import summed_up
from tests.support.crawl import Running
from tests.support.responses import after, closing, redirect, reply, silence
from tests.support.server import Server, Site

need("scrapy_playwright", "scrapy-playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")


def ways(site: Site) -> list[dict[str, Any]]:
    """Requests for all ways. Chromium follows speculation rules only in a window's front tab."""
    names = [path.removeprefix("/way/") for path in site.pages if path.startswith("/way/")]
    return [
        visit(
            site.url(f"/way/{name}"),
            ["wait_for_timeout", 1500],
            playwright_context=name if name.endswith("-rules") else "default",
        )
        for name in names
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, RESOURCES), (ALL, set()), (OFF, NAVIGATIONS | SERVICE_WORKERS | RESOURCES)],
    ids=["page", "all", "off"],
)
def test_disallowed_pages_are_requested_only_by_ways_that_are_not_checked(
    server: Server, settings: dict[str, Any], expected: set[str]
) -> None:
    browse(ways(browser_site.build(server)), settings)
    assert browser_site.reached(server) == expected


class TestRefusals:
    """A refused navigation of the main frame ends its request; others only that request."""

    def test_a_request_ends_with_the_decision_about_the_url_that_was_refused(
        self, server: Server
    ) -> None:
        other = server.site("127.0.0.3", NO)
        pages = {
            "/redirect": redirect(other.url("/no/1")),
            "/script": html(f"<script>location = '{other.url('/no/2')}'</script>"),
            "/click": html(f"<a id=a href='{other.url('/no/3')}'>x</a>"),
            "/window": html(f"<script>open('{other.url('/no/4')}')</script>"),
            "/fine": redirect(other.url("/yes")),
        }
        site = server.site("127.0.0.2", "", pages=pages)
        result = browse(
            [
                visit(site.url("/redirect")),
                visit(site.url("/script"), ["wait_for_timeout", 500]),
                visit(site.url("/click"), ["click", "#a"], ["wait_for_url", "**/no/3"]),
                visit(site.url("/window"), ["wait_for_timeout", 500]),
                visit(site.url("/fine")),
            ]
        )
        assert other.pages_asked == ["/yes"]
        assert set(result.responses) == {site.url("/window"), site.url("/fine")}
        for error in result.errors.values():
            assert error["type"] == "ForbiddenByRobots"
            assert error["text"] == "Forbidden by robots.txt (line 2: 'Disallow: /no')"
            assert error["origin"] == f"http://127.0.0.3:{server.port}"
        assert result.stats["robotstxt/forbidden"] == 3
        assert result.stats["robotspec/browser/aborted"] == 4
        assert summed_up(result) == {"let_through": 2, "refused": 3, "after_sending": 3}

    def test_an_unreachable_robots_txt_refuses_navigations_to_its_origin(
        self, server: Server
    ) -> None:
        failing = server.site("127.0.0.3", reply("", 503))
        silent = server.site("127.0.0.4", silence())
        pages = {"/failing": redirect(failing.url("/")), "/silent": redirect(silent.url("/"))}
        site = server.site("127.0.0.2", "", pages=pages)
        result = browse([visit(site.url(path)) for path in pages], IMPATIENT)
        assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}
        assert len(result.errors) == 2
        assert failing.pages_asked == silent.pages_asked == []
        assert result.stats["robotspec/unreachable"] == 2


def test_a_handler_of_ones_own_is_checked_where_its_path_is_read_late(server: Server) -> None:
    """A ``CrawlerProcess`` imports it when it has its reactor; Scrapy's other processes before."""
    pages = {"/redirect": redirect("/no/1"), "/script": html("<script>location = '/no/2'</script>")}
    site = server.site("127.0.0.2", NO, pages=pages)
    handlers = {"http": "tests.plugins.own_browser.Own", "https": None}
    result = browse(
        [site.url(path) for path in [*pages, "/yes"]],
        {"DOWNLOAD_HANDLERS": handlers},
        words=["tests.plugins.in_crawler_process", "browsing"],
    )
    assert set(site.pages_asked) == {*pages, "/yes"}
    assert set(result.responses) == {site.url("/yes")}
    assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}
    assert result.lines("WARNING", "scrapy_robotspec") == []


def test_the_evidence_contains_every_decision_and_replays(server: Server, tmp_path: Path) -> None:
    """A request that waited too long for a robots.txt is refused without one."""
    silent = server.site("127.0.0.4", silence())
    page = html("<img src=/no/image><img src=/yes>")
    pages = {"/page": page, "/stop": redirect("/no/page"), "/silent": redirect(silent.url("/"))}
    site = server.site("127.0.0.2", NO, pages=pages)
    folder = tmp_path / "evidence"
    settings = {**ALL, **IMPATIENT, "ROBOTSPEC_EVIDENCE": str(folder)}
    requests = [visit(site.url(path), ["wait_for_timeout", 300]) for path in pages]
    browse(requests, settings)
    (log,) = folder.glob("decisions-*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    logged = {line["url"]: line["allowed"] for line in lines if line.get("stage") == "browser"}
    expected = {"/no/image": False, "/yes": True, "/no/page": False}
    decided = {site.url(path): allowed for path, allowed in expected.items()}
    assert logged == {**decided, silent.url("/"): False}
    replayed = replay(folder)
    assert replayed.problems == []
    assert replayed.decisions == len(pages) + len(logged)


class TestOrigins:
    """An origin that is first met inside the browser."""

    def test_fifty_pages_wait_for_one_robots_txt(self, server: Server) -> None:
        other = server.site("127.0.0.3", after(1.0, reply(NO)))
        goals = [f"/{'no' if n % 2 else 'yes'}/{n}" for n in range(50)]
        pages = {f"/{n}": redirect(other.url(goal)) for n, goal in enumerate(goals)}
        site = server.site("127.0.0.2", "", pages=pages)
        settings = {"CONCURRENT_REQUESTS": 50, "CONCURRENT_REQUESTS_PER_DOMAIN": 50}
        result = browse([visit(site.url(path)) for path in pages], settings)
        assert len(other.robots_asked) == 1
        assert sorted(other.pages_asked) == sorted(goals[::2])
        assert len(result.responses) == len(result.errors) == 25
        assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}

    def test_a_crawl_ends_while_a_page_waits_for_a_robots_txt(self, server: Server) -> None:
        silent = server.site("127.0.0.4", silence())
        site = server.site("127.0.0.2", "", pages={"/": redirect(silent.url("/"))})
        settings = {**SETTINGS, "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 60_000}
        with Running([visit(site.url("/"))], settings, spider="browsing") as running:
            running.wait_until(lambda: silent.robots_asked)
            interrupted = running.send(signal.SIGINT)
            result = running.finish()
        assert time.monotonic() - interrupted < 20
        assert result.exit_code == 0
        assert silent.pages_asked == []
        assert re.search(r"still pending +[\d.]+ m?s  http://127.0.0.4", result.log)


class TestScrapyPlaywright:
    """Other features of scrapy-playwright still work."""

    @pytest.mark.parametrize("predicate", ["no_images", "no_scripts"])
    def test_the_users_predicate_aborts_before_any_check(
        self, server: Server, predicate: str
    ) -> None:
        other = server.site("127.0.0.3", NO)
        kind = "<img src={}>" if predicate == "no_images" else "<script src={}></script>"
        page = html(kind.format(other.url("/no/x")) + "<link rel=stylesheet href=/no/style>")
        site = server.site("127.0.0.2", NO, pages={"/": page})
        settings = {**ALL, "PLAYWRIGHT_ABORT_REQUEST": f"{SPIDERS}.{predicate}"}
        result = browse([visit(site.url("/"), ["wait_for_timeout", 300])], settings)
        assert other.log == []
        assert "/no/style" not in site.pages_asked
        assert result.stats["playwright/request_count/aborted"] == 1
        assert result.stats["robotspec/browser/aborted"] == 1

    @pytest.mark.parametrize("browser", ["page", "off"])
    def test_a_middleware_that_wants_a_browser_for_every_request(
        self, server: Server, browser: str
    ) -> None:
        """A browser would show the rules in a page, where they are not read."""
        site = server.site("127.0.0.2", NO)
        wanting = {"DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}.ForEveryRequest": 543}}
        urls = [site.url("/no/x"), site.url("/yes")]
        result = browse([visit(url) for url in urls], {**wanting, "ROBOTSPEC_BROWSER": browser})
        assert site.pages_asked == ["/yes"]
        assert result.stats["playwright/page_count"] == 1

    def test_the_users_init_callback_is_called(self, server: Server) -> None:
        page = html("<script>document.title = window.seen</script>")
        site = server.site("127.0.0.2", NO, pages={"/": page})
        callback = f"{SPIDERS}.on_page"
        result = browse([visit(site.url("/"), playwright_page_init_callback=callback)])
        (response,) = result.responses.values()
        assert "<title>true</title>" in response["body"]
        assert "playwright_page_init_callback" in response["meta"]

    def test_a_spider_that_goes_on_with_its_page_and_uses_it_again(self, server: Server) -> None:
        pages = {"/": html("start"), "/go": redirect("/no/2"), "/again": redirect("/no/3")}
        site = server.site("127.0.0.2", NO, pages=pages)
        goals = [site.url(path) for path in ("/no/1", "/yes", "/go")]
        result = browse(
            [visit(site.url("/"), playwright_include_page=True)],
            spider="steering",
            more={"goals": goals, "again": site.url("/again")},
        )
        ends = [event["end"] for event in result.of("steered")]
        assert ends[1] == "200"
        assert all("net::ERR_ABORTED" in ends[n] for n in (0, 2))
        assert site.pages_asked == ["/", "/yes", "/go", "/again"]
        assert result.errors[site.url("/again")]["type"] == "ForbiddenByRobots"

    def test_a_persistent_context_and_a_second_one(self, server: Server, tmp_path: Path) -> None:
        site = server.site("127.0.0.2", NO, pages={"/a": redirect("/no/a"), "/b": html("b")})
        contexts = {"kept": {"user_data_dir": str(tmp_path), **LAUNCH}, "other": {}}
        requests = [
            visit(site.url(path), playwright_context=context)
            for path, context in (("/a", "kept"), ("/b", "kept"), ("/a?2", "other"))
        ]
        site.pages = {**site.pages, "/a?2": redirect("/no/a2")}
        result = browse(requests, {"PLAYWRIGHT_CONTEXTS": contexts})
        assert set(result.responses) == {site.url("/b")}
        assert len(result.errors) == 2
        assert sorted(site.pages_asked) == ["/a", "/a?2", "/b"]

    def test_an_allowed_download_arrives(self, server: Server) -> None:
        attachment = reply("data", headers=[("Content-Disposition", "attachment; filename=x.bin")])
        pages = {"/go": redirect("/file"), "/file": attachment, "/stop": redirect("/no/file")}
        site = server.site("127.0.0.2", NO, pages=pages)
        result = browse([visit(site.url("/go")), visit(site.url("/stop"))])
        assert result.responses[site.url("/go")]["body"] == "data"
        assert result.errors[site.url("/stop")]["type"] == "ForbiddenByRobots"
        assert sorted(site.pages_asked) == ["/file", "/go", "/stop"]

    def test_a_post_request_keeps_its_body_over_allowed_redirects(self, server: Server) -> None:
        pages = {"/post": closing(redirect("/end", 307)), "/stop": closing(redirect("/no", 307))}
        site = server.site("127.0.0.2", NO, pages=pages)
        requests = [
            {**visit(site.url(path)), "method": "POST", "body": "a=1"}
            for path in ("/post", "/stop")
        ]
        result = browse(requests)
        sent = {asked.path: (asked.method, asked.header("content-length")) for asked in site.log}
        assert sent["/end"] == ("POST", "3")
        assert result.errors[site.url("/stop")]["type"] == "ForbiddenByRobots"

    def test_a_playwright_loop_in_a_thread_of_its_own(self, server: Server) -> None:
        """As on Windows."""
        other = server.site("127.0.0.3", after(0.3, reply(NO)))
        pages = {"/no": redirect(other.url("/no")), "/yes": redirect(other.url("/yes"))}
        site = server.site("127.0.0.2", "", pages=pages)
        requests = [visit(site.url(path)) for path in pages]
        result = browse(requests, {"_PLAYWRIGHT_THREADED_LOOP": True})
        assert set(result.responses) == {site.url("/yes")}
        assert result.errors[site.url("/no")]["type"] == "ForbiddenByRobots"
        assert other.pages_asked == ["/yes"]

    def test_a_browser_that_is_connected_to(self, server: Server, tmp_path: Path) -> None:
        """``PLAYWRIGHT_CDP_URL``."""
        site = server.site("127.0.0.2", NO, pages={"/a": redirect("/no/a"), "/b": html("b")})
        command = [CHROMIUM, "--headless", "--no-sandbox", "--remote-debugging-port=0"]
        with subprocess.Popen(
            [*command, f"--user-data-dir={tmp_path}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as browser:
            try:
                limit = time.monotonic() + 20
                while not (written := tmp_path / "DevToolsActivePort").exists():
                    assert time.monotonic() < limit, "Chromium does not listen"
                    time.sleep(0.05)
                url = f"http://127.0.0.1:{written.read_text().split()[0]}"
                settings = {"PLAYWRIGHT_LAUNCH_OPTIONS": {}, "PLAYWRIGHT_CDP_URL": url}
                result = browse([visit(site.url("/a")), visit(site.url("/b"))], settings)
            finally:
                os.killpg(browser.pid, signal.SIGKILL)
        assert set(result.responses) == {site.url("/b")}
        assert result.errors[site.url("/a")]["type"] == "ForbiddenByRobots"
        assert sorted(site.pages_asked) == ["/a", "/b"]


class TestOtherBrowsers:
    """Browsers without a DevTools protocol: playwright's routes see no redirects."""

    def test_the_first_url_of_each_request_is_checked(self, server: Server) -> None:
        pages = {
            "/script": html("<script>location = '/no/script'</script>"),
            "/window": html("<script>open('/no/window')</script>"),
            "/image": html("<img src=/no/image>"),
            "/redirect": redirect("/no/redirect"),
        }
        site = server.site("127.0.0.2", NO, pages=pages)
        requests = [visit(site.url(path), ["wait_for_timeout", 500]) for path in pages]
        result = browse(requests, WITHOUT_DEVTOOLS)
        refused = {path for path in pages if site.url(path) in result.errors}
        assert refused == {"/script", "/redirect"}  # the second by its final URL
        reached = {path for path in site.pages_asked if path.startswith("/no")}
        assert reached == {"/no/image", "/no/redirect"}
        (warning,) = result.lines("WARNING", "Redirects inside the browser are not checked")
        assert "only available in Chromium" in warning

    def test_every_request_is_checked_in_mode_all(self, server: Server) -> None:
        page = html("<img src=/no/image><iframe src=/no/frame></iframe><img src=/yes>")
        site = server.site("127.0.0.2", NO, pages={"/": page})
        request = visit(site.url("/"), ["wait_for_timeout", 300])
        browse([request], {**WITHOUT_DEVTOOLS, **ALL})
        assert sorted(site.pages_asked) == ["/", "/yes"]


def test_the_example_spider_shows_what_leads_to_disallowed_pages() -> None:
    """The page that both lead to is never requested: ``run_all.py`` reads the log of the site."""
    folder = Path(__file__).parents[2] / "example_project"
    environment = {**os.environ, "PYTHONPATH": str(folder.parent), "CHROMIUM": CHROMIUM}
    result = subprocess.run(
        [sys.executable, "run_all.py", "robots_12_browser"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for page in ("/moved.html leads on and", "/script.html leads on and", "/private/a.html"):
        assert f"- {page}  refused by line 2: Disallow: /private/" in result.stdout
    assert "no refused page was asked for.\n" in result.stdout
