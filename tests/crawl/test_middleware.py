"""How the plugin is switched on, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import MODES, crawl
from tests.support.responses import in_turn, reply
from tests.support.server import Server

NO = "User-agent: *\nDisallow: /no"
BUILT_IN = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
OURS = "scrapy_robotspec.RobotSpecMiddleware"
PARSER = {"ADDONS": {}, "ROBOTSTXT_PARSER": "scrapy_robotspec.RobotSpecParser"}


@pytest.mark.parametrize(
    ("placed", "words"),
    [
        ({OURS: 100}, "RobotsTxtMiddleware is enabled beside"),
        ({BUILT_IN: None, OURS: 100}, "scheduler does not know"),
    ],
    ids=["both", "ours alone"],
)
def test_the_middleware_without_the_add_on_decides_with_one_warning(
    server: Server, placed: dict[str, object], words: str
) -> None:
    """The warning has the remedy."""
    site = server.site("127.0.0.2", NO)
    settings = {"ADDONS": {}, "DOWNLOADER_MIDDLEWARES": placed}
    result = crawl([site.url("/no"), site.url("/yes")], settings)
    assert site.pages_asked == ["/yes"]
    (line,) = result.lines("WARNING", "[scrapy_robotspec]")
    assert words in line
    assert "scrapy_robotspec.Addon" in line


@pytest.mark.parametrize("wiring", [{}, {"ADDONS": {}, "DOWNLOADER_MIDDLEWARES": {OURS: 100}}])
def test_without_robotstxt_obey_one_line_says_who_has_done_that(
    server: Server, wiring: dict[str, Any]
) -> None:
    """The master switch is Scrapy's."""
    site = server.site("127.0.0.2", NO)
    result = crawl([site.url("/no")], {"ROBOTSTXT_OBEY": False, **wiring})
    assert [asked.path for asked in site.log] == ["/no"]
    (line,) = result.lines("[scrapy_robotspec]")
    assert "INFO: robots.txt is not obeyed: ROBOTSTXT_OBEY is off (settings)" in line


def test_the_built_in_middleware_is_off(server: Server) -> None:
    """A body with a 404 counts for Scrapy's own middleware only, so this tells who decides."""
    site = server.site("127.0.0.2", reply(NO, 404))
    other = server.site("127.0.0.3", NO)
    result = crawl([site.url("/no"), other.url("/no"), other.url("/yes")])
    assert site.pages_asked == ["/no"]
    assert other.pages_asked == ["/yes"]
    assert len(site.robots_asked) == len(other.robots_asked) == 1
    enabled = result.log[result.log.index("Enabled downloader middlewares") :]
    enabled = enabled[: enabled.index("]\n")]
    assert BUILT_IN not in enabled
    assert enabled.count("RobotSpecMiddleware") == 1


def test_opting_out(server: Server) -> None:
    """APP-01: ``dont_obey_robotstxt``, and no robots.txt is asked for its sake."""
    site = server.site("127.0.0.2", NO)
    result = crawl([{"url": site.url("/no"), "meta": {"dont_obey_robotstxt": True}}])
    assert [asked.path for asked in site.log] == ["/no"]
    assert result.responses[site.url("/no")]["robotspec"] is None


def test_urls_without_robots_txt_pass(server: Server) -> None:
    """LOC-11, LOC-12: data and file URLs."""
    site = server.site("127.0.0.2", "User-agent: *\nDisallow: /")
    urls = ["data:text/plain,hello", f"file://{__file__}"]
    result = crawl([*urls, site.url("/x")])
    assert sorted(result.responses) == sorted(urls)
    assert list(result.errors) == [site.url("/x")]


def test_the_parser_alone_under_scrapys_own_middleware(server: Server) -> None:
    """The rules of the default edition, and the token from the User-Agent that Scrapy gives."""
    site = server.site(
        "127.0.0.2",
        "User-agent: *\nDisallow: /\n\n"
        "User-agent: examplebot/2\nDisallow: /*.pdf$\nAllow: /a/*.pdf\n",
    )
    result = crawl([site.url(p) for p in ("/x", "/x.pdf", "/a/x.pdf", "/x.pdf?y")], PARSER)
    assert sorted(site.pages_asked) == ["/a/x.pdf", "/x", "/x.pdf?y"]
    assert result.errors[site.url("/x.pdf")]["type"] == "IgnoreRequest"


@pytest.mark.parametrize("mode", sorted({"asyncio", "select"} & MODES.keys()))
def test_users_modules_are_not_imported_before_scrapy_has_its_reactor(
    server: Server, mode: str
) -> None:
    """Else a module that imports the reactor would install another one, and no crawl starts."""
    site = server.site("127.0.0.2", NO)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.importing_reactor.Middleware": 90},
        "DOWNLOAD_HANDLERS": {"http": "tests.crawl.importing_reactor.Handler"},
    }
    result = crawl([site.url("/yes"), site.url("/no")], settings, mode=mode)
    assert site.pages_asked == ["/yes"]
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "component",
    ["SCHEDULER=UsersScheduler", "SCHEDULER_PRIORITY_QUEUE=UsersQueue", "ROBOTSTXT_PARSER=Parser"],
)
def test_a_users_scheduler_queue_or_parser_may_import_the_reactor(
    server: Server, component: str
) -> None:
    """It is imported when the crawl creates it; its waiting requests are parked as always."""
    site = server.site("127.0.0.2", in_turn(reply("", 503), reply(NO)))
    name, _, cls = component.partition("=")
    settings = {name: f"tests.crawl.importing_reactor.{cls}", "ROBOTSPEC_RETRY_DELAY": 0.1}
    result = crawl([site.url("/yes"), site.url("/no")], settings, mode="select")
    assert site.pages_asked == ["/yes"]
    assert set(result.errors) == {site.url("/no")}
    assert result.stats["robotspec/released"] == 2
    assert result.lines("WARNING", "[scrapy_robotspec]") == []


def test_a_step_of_the_start_that_fails_hides_no_other(server: Server, tmp_path: Path) -> None:
    """The error is logged; pages are checked when they are sent, the report is kept up to date."""
    site = server.site("127.0.0.2", NO)
    settings = {
        "SCHEDULER": "tests.crawl.middlewares.LooksLikeScrapyRedis",
        "ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence"),
        "ROBOTSPEC_REPORT": str(tmp_path / "report.jsonl"),
    }
    result = crawl([site.url("/no"), site.url("/yes")], settings)
    assert result.lines("AttributeError")
    assert site.pages_asked == ["/yes"]
    (log,) = (tmp_path / "evidence").glob("decisions-*.jsonl")
    assert log.read_text().count('"type":"sent"') == 1
    assert '"let_through": 1' in (tmp_path / "report.jsonl").read_text()
