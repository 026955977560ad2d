"""ROBOTSPEC_DRY_RUN: Scrapy's own middleware decides, the differences are counted."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from tests.support.crawl import Result, Running, crawl
from tests.support.html_page import check
from tests.support.responses import after, in_turn, once, reply, silence
from tests.support.server import Server, Site

MIDDLEWARES = "tests.crawl.middlewares"
STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
NO = "User-agent: *\nDisallow: /no\n"
DRY = {"ROBOTSPEC_DRY_RUN": True}


def differences(result: Result) -> dict[str, int]:
    """The counts of the dry run by the last part of their names."""
    beginning = "robotspec/dry_run/"
    counts = {name: count for name, count in result.stats.items() if name.startswith(beginning)}
    return {name.removeprefix(beginning): count for name, count in counts.items()}


def one_by_one(sites: list[Site], settings: dict[str, Any], mode: str = "asyncio") -> Result:
    """One after the other, as Scrapy's own checks only one of many first requests."""
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    return crawl(urls, settings, mode=mode, spider="one_by_one")


def test_differences_are_counted_and_shown(server: Server) -> None:
    """FET-08, FET-10: statuses mean something to ours."""
    plain = server.site("127.0.0.2", NO)
    missing = server.site("127.0.0.3", reply(NO, 404))
    down = server.site("127.0.0.4", reply(NO, 503))
    settings = {"RETRY_ENABLED": False, "ROBOTSPEC_CRAWL_DELAY": True}
    result = one_by_one([plain, missing, down], {**DRY, **settings})
    assert [site.pages_asked for site in (plain, missing, down)] == [["/yes"]] * 3
    assert differences(result) == {"same": 3, "we_would_allow": 1, "we_would_wait": 2}
    assert len(result.lines("INFO", "Dry run: we would allow", missing.url("/no"))) == 1
    assert len(result.lines("INFO", "Dry run: we would wait", "HTTP status 503")) == 2
    assert len(result.lines("INFO", "3 same, 0 we would refuse, 1 we would allow")) == 1
    assert len(result.lines("INFO", "crawl delays not kept")) == 1
    assert result.exit_code == 0
    assert "Traceback" not in result.log


def test_a_robots_txt_middleware_of_the_project_is_named(server: Server) -> None:
    """The page that it lets pass is refused, because Scrapy's own decides too."""
    site = server.site("127.0.0.2", NO)
    own = {f"{MIDDLEWARES}.ObeysHalf": 100, STOCK: None}
    result = crawl([site.url("/no/files/x")], {**DRY, "DOWNLOADER_MIDDLEWARES": own})
    assert site.pages_asked == []
    assert len(result.lines("WARNING", "ObeysHalf is enabled beside Scrapy's own middleware")) == 1
    assert len(result.lines("WARNING", "is enabled beside")) == 1


def test_what_would_be_refused(server: Server) -> None:
    """By a rule, by an override, and for want of an answer."""
    redirected = server.site("127.0.0.2", "User-agent: examplebot/2\nDisallow: /no\n")
    host = server.site("127.0.0.3")
    down = server.site("127.0.0.4", reply("", 503))
    settings = {"ROBOTSPEC_HOLD_TIMEOUT": 0, "ROBOTSPEC_OVERRIDES": {"127.0.0.3": "disallow"}}
    result = one_by_one([redirected, host, down], {**DRY, **settings, "RETRY_ENABLED": False})
    assert differences(result) == {"same": 1, "we_would_refuse": 5}
    assert len(result.lines("we would refuse", "line 2: 'Disallow: /no'")) == 1
    assert len(result.lines("we would refuse", "by ROBOTSPEC_OVERRIDES")) == 2
    assert len(result.lines("we would refuse", "is unreachable (HTTP status 503)")) == 2


def test_scrapys_crawl_is_what_it_was(server: Server) -> None:
    """Same pages, same stats of Scrapy's own; one more fetch for each origin, nothing else."""
    sites = [server.site("127.0.0.2", NO), server.site("127.0.0.3", reply(NO, 404))]
    without = one_by_one(sites, {"ADDONS": {}})
    asked = [list(site.pages_asked) for site in sites]
    for site in sites:
        site.log.clear()
    result = one_by_one(sites, DRY)
    assert [site.pages_asked for site in sites] == asked
    assert [len(site.robots_asked) for site in sites] == [2, 2]
    assert without.ends == result.ends
    ours = {name for name in result.stats if name.startswith(("robotstxt/", "robotspec/"))}
    own = {name: value for name, value in without.stats.items() if name.startswith("robotstxt/")}
    assert {name: result.stats[name] for name in own} == own
    assert ours - set(own) == {"robotspec/dry_run/same", "robotspec/dry_run/we_would_allow"}
    assert not any("robotspec" in response["meta"] for response in result.of("response"))
    assert len(result.of("robots_parsed")) == len(without.of("robots_parsed"))


def test_a_middleware_with_an_equal_number_comes_behind(server: Server) -> None:
    """As behind Scrapy's own, and the dry run says what the real run does."""
    site = server.site("127.0.0.2", NO)
    urls = [site.url("/no/before-answered"), site.url("/yes/before-answered")]
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.EndsPagesBefore": 100}}
    real, dry = crawl(urls, settings), crawl(urls, {**settings, **DRY})
    for result in (real, dry):
        assert list(result.errors) == urls[:1]
        assert list(result.responses) == urls[1:]
    assert differences(dry) == {"same": 2}


def test_a_place_before_ours_is_rehearsed(server: Server) -> None:
    """The user has put ours behind another middleware: what that one answers is not compared."""
    site = server.site("127.0.0.2", NO)
    ours, other = "scrapy_robotspec.RobotSpecMiddleware", "tests.crawl.middlewares.EndsPagesBefore"
    settings = {"DOWNLOADER_MIDDLEWARES": {ours: 110, other: 100}}
    urls = [site.url("/no/before-answered"), site.url("/no/x")]
    real, dry = crawl(urls, settings), crawl(urls, {**settings, **DRY})
    for result in (real, dry):
        assert list(result.responses) == urls[:1]
        assert list(result.errors) == urls[1:]
    assert differences(dry) == {"same": 1}


def test_nothing_waits_for_our_answer(server: Server) -> None:
    """Pages are compared when it comes; ``dont_obey_robotstxt`` is no difference (APP-01)."""
    slow = server.site("127.0.0.2", after(1.0, reply(NO)))
    urls: list[Any] = [slow.url(f"/{n}") for n in range(50)]
    result = crawl([*urls, {"url": slow.url("/no"), "meta": {"dont_obey_robotstxt": True}}], DRY)
    assert len(slow.pages_asked) == 51
    assert differences(result) == {"same": 50}


def test_what_cannot_be_compared_is_counted(server: Server) -> None:
    """The token function fails; that is the user's, and no end of a crawl that tries us out."""
    site = server.site("127.0.0.2")
    token = {"ROBOTSPEC_USER_AGENT_TOKEN": "tests.crawl.tokens.broken"}
    result = crawl([site.url("/x")], {**DRY, **token})
    assert site.pages_asked == ["/x"]
    assert differences(result) == {"not_compared": 1}


def test_more_origins_than_places(server: Server) -> None:
    """Those for which no fetch can begin at first are compared in the end.

    Also if that takes longer than a fetch may take: they are not silent.
    """
    sites = [server.site(f"127.0.1.{n}", after(0.2, reply(NO))) for n in range(1, 31)]
    settings = {**DRY, "ROBOTSPEC_CONCURRENT_FETCHES": 2, "ROBOTSPEC_FETCH_TIMEOUT": 1.5}
    result = crawl([site.url("/x") for site in sites], settings)
    assert differences(result) == {"same": 30}


def test_a_silent_robots_txt_does_not_outlast_the_crawl_for_long(server: Server) -> None:
    """The fetch has its timeout, then the crawl may end."""
    silent = server.site("127.0.0.2", silence())
    settings = {"ROBOTSPEC_FETCH_TIMEOUT": 1, "DOWNLOAD_TIMEOUT": 1, "RETRY_ENABLED": False}
    result = crawl([silent.url("/x")], {**DRY, **settings}, seconds=100)
    assert silent.pages_asked == ["/x"]
    assert differences(result) == {"we_would_wait": 1}


def test_a_crawl_may_end_before_our_answer(server: Server) -> None:
    site = server.site("127.0.0.2", in_turn(reply(), silence()))
    with Running([site.url("/x")], DRY) as running:
        running.wait_until(lambda: site.pages_asked and len(site.robots_asked) == 2)
        running.send(signal.SIGINT)
        result = running.finish()
    assert differences(result) == {"not_compared": 1}


def test_silent_answers_to_us_take_no_connection_from_pages(server: Server) -> None:
    """No fetch of ours is answered before all pages have come, though there are more of these."""
    sites: list[Site] = []
    all_pages = lambda: sum(len(site.pages_asked) for site in sites) == 36  # noqa: E731
    robots = in_turn(reply(), once(all_pages, reply()))
    sites += [server.site(f"127.0.1.{n}", robots) for n in range(1, 13)]
    urls = [site.url(f"/{n}") for n in range(3) for site in sites]
    result = crawl(urls, {**DRY, "CONCURRENT_REQUESTS": 4})
    assert all(len(site.pages_asked) == 3 for site in sites)
    assert differences(result) == {"same": 36}


def test_the_report_shows_what_would_have_happened(server: Server, tmp_path: Path) -> None:
    plain = server.site("127.0.0.2", NO)
    missing = server.site("127.0.0.3", reply(NO, 404))
    down = server.site("127.0.0.4", reply("", 503))
    own = server.site("127.0.0.5")
    settings = {
        "RETRY_ENABLED": False,
        "ROBOTSPEC_CRAWL_DELAY": True,
        "ROBOTSPEC_OVERRIDES": {"127.0.0.5": "disallow"},
    }
    sites = [plain, missing, down, own]
    for path in (tmp_path / "report.jsonl", tmp_path / "report.html"):
        result = one_by_one(sites, {**DRY, **settings, "ROBOTSPEC_REPORT": str(path)})
        assert result.exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    counts = {
        row["origin"]: (row["let_through"], row["refused"], row["waited"], row["answer"])
        for row in rows
    }
    assert counts == {
        plain.url(""): (1, 1, 0, "rules"),
        missing.url(""): (2, 0, 0, "allow"),
        down.url(""): (0, 0, 2, "unreachable"),
        own.url(""): (0, 2, 0, None),
    }
    page = check((tmp_path / "report.html").read_text()).text
    assert "3 of 6 requests would go out, 3 would be refused" in page
    assert "3 same, 2 we would refuse, 1 we would allow, 2 we would wait" in page
    assert "Crawl delaynot kept" in page
