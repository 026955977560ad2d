"""The account of a crawl: each request has one outcome, and the sums are the servers'."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_robotspec.access.reasons import OUTCOMES
from scrapy_robotspec.evidence.replay import replay
from tests.plugins.renderers import renderer, splash
from tests.support.account import check
from tests.support.crawl import MODES, Result, crawl
from tests.support.responses import in_turn, redirect, reply, reset, until
from tests.support.server import Server, Site

NO = "User-agent: *\nDisallow: /no\n"
EXEMPT = {"dont_obey_robotstxt": True}


def counted(
    tmp_path: Path,
    requests: list[Any],
    settings: dict[str, Any],
    sites: list[Site],
    **kwargs: Any,
) -> tuple[Result, dict[str, int]]:
    """A crawl with a report, and the outcomes on which all its views agree."""
    path = tmp_path / "report.jsonl"
    result = crawl(requests, {**settings, "ROBOTSPEC_REPORT": str(path)}, **kwargs)
    assert "Traceback" not in result.log
    return result, dict(check(result, path, sites))


def test_each_request_has_an_outcome(server: Server, tmp_path: Path) -> None:
    """One of each kind that needs no second decision."""
    site = server.site("127.0.0.2", NO)
    missing = server.site("127.0.0.3", reply("", 404))
    down = server.site("127.0.0.4", reply("", 503))
    gone = server.site("127.0.0.5", reply("", 410))
    ours = server.site("127.0.0.6")
    closed = server.site("127.0.0.7")
    sites = [site, missing, down, gone, ours, closed]
    requests = [
        *(site.url(path) for path in ("/a", "/b", "/no", "/no/2", "/no/3")),
        *({"url": site.url(f"/no/exempt/{n}"), "meta": EXEMPT} for n in range(4)),
        *(missing.url(f"/{n}") for n in range(3)),
        *(down.url(f"/{n}") for n in range(2)),
        *(gone.url(f"/{n}") for n in range(6)),
        *(ours.url(f"/{n}") for n in range(7)),
        *(closed.url(f"/{n}") for n in range(5)),
        "data:,one",
    ]
    settings = {
        "ROBOTSPEC_HOLD_TIMEOUT": 0,
        "ROBOTSPEC_STATUS_POLICY": {410: "disallow"},
        "ROBOTSPEC_OVERRIDES": {"127.0.0.6": "ignore", "127.0.0.7": "disallow"},
    }
    result, outcomes = counted(tmp_path, requests, settings, sites)
    assert outcomes == {
        "rules": 2,
        "refused_rule": 3,
        "dont_obey_robotstxt": 4,
        "unavailable": 3,
        "refused_unreachable": 2,
        "refused_policy": 6,
        "override": 7,
        "refused_override": 5,
        "no_robots_txt": 1,
    }
    assert result.lines(
        "12 let through (2 by rules, 3 without a file, 7 by an override), "
        "16 refused (3 by a rule, 6 by policy, 5 by an override, 2 unreachable), "
        "4 not checked (dont_obey_robotstxt), 1 without a robots.txt (such as data:, file:)"
    )


PAGE = "<!DOCTYPE html><html><title>Just a moment...</title>\n"
#: Answers of sites, with the outcome of the page ``/yes``.
ANSWERS = {
    "a file": (reply(NO), "rules"),
    "a file within a page": (reply(PAGE + NO), "rules"),
    "a file for others": (reply("User-agent: other\nDisallow: /"), "rules"),
    "an empty file": (reply(""), "rules"),
    "comments": (reply("# nothing yet"), "rules"),
    "a page": (reply(PAGE), "unavailable"),
    "JSON": (reply('{"error": 1}'), "unavailable"),
    "UTF-16": (reply(NO.encode("utf-16")), "unavailable"),
    "binary data": (reply(bytes(range(14, 40)) * 9), "unavailable"),
    "prose": (reply("Too many requests"), "unavailable"),
    "accepted": (reply("", 202), "unavailable"),
    "missing": (reply("", 404), "unavailable"),
    "forbidden": (reply(PAGE, 403), "unavailable"),
    "a loop": (redirect("/robots.txt"), "unavailable"),
    "a redirect to nowhere": (redirect(None), "unavailable"),
    "a challenge": (reply(PAGE, 403, [("cf-mitigated", "challenge")]), "refused_unreachable"),
    "down": (reply("", 503), "refused_unreachable"),
    "closed by policy": (reply("", 410), "refused_policy"),
}


def by_origin(path: Path) -> dict[str, Counter[str]]:
    """Requests of each origin by outcome."""
    rows = map(json.loads, path.read_text().splitlines())
    return {
        row["origin"]: +Counter({name: row["outcomes"][name] for name in OUTCOMES}) for row in rows
    }


@pytest.mark.parametrize("seed", [17, 4711])
def test_rules_let_through_where_a_file_was_read(server: Server, tmp_path: Path, seed: int) -> None:
    """Any mix of answers: each view adds up to all requests, a replay and a dry run likewise."""
    draw = Random(seed)
    wanted, sites, urls = {}, [], []
    for number, name in enumerate(draw.choices(list(ANSWERS), k=14)):
        answer, outcome = ANSWERS[name]
        site = server.site(f"127.0.7.{number}", answer)
        pages, refused = draw.randrange(1, 5), draw.randrange(3)
        urls += [site.url(f"/{page}") for page in range(pages)]
        urls += [site.url(f"/no/{page}") for page in range(refused)]
        counts = Counter({outcome: pages})
        counts["refused_rule" if name.startswith("a file") else outcome] += refused
        if name == "a file for others":
            counts = Counter(rules=pages + refused)
        wanted[site.url("")] = +counts
        sites.append(site)
    folder, path = tmp_path / "evidence", tmp_path / "report.jsonl"
    settings = {
        "ROBOTSPEC_HOLD_TIMEOUT": 0,
        "ROBOTSPEC_STATUS_POLICY": {410: "disallow"},
        "ROBOTSPEC_EVIDENCE": str(folder),
    }
    _, outcomes = counted(tmp_path, urls, settings, sites)
    assert outcomes == sum(wanted.values(), Counter())
    assert sum(outcomes.values()) == len(urls)
    found = replay(folder)
    assert (found.problems, +Counter(found.reasons)) == ([], outcomes)
    assert found.sent_by_rules == outcomes.get("rules", 0)
    assert by_origin(path) == wanted
    del settings["ROBOTSPEC_EVIDENCE"]
    crawl(urls, {**settings, "ROBOTSPEC_DRY_RUN": True, "ROBOTSPEC_REPORT": str(path)})
    assert by_origin(path) == wanted


def test_a_crawl_that_checks_nothing_says_so(server: Server, tmp_path: Path) -> None:
    """A middleware sets the key on every request."""
    site = server.site("127.0.0.2", NO)
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.ObeysNothing": 50}}
    urls = [site.url(f"/no/{n}") for n in range(8)]
    result, outcomes = counted(tmp_path, urls, settings, [site])
    assert outcomes == {"dont_obey_robotstxt": 8}
    assert site.robots_asked == []
    assert result.lines("0 let through, 0 refused, 8 not checked (dont_obey_robotstxt)")


@pytest.mark.parametrize("then", [NO, "User-agent: *\nDisallow: /\n"], ids=["open", "closed"])
@pytest.mark.parametrize("mode", MODES)
def test_requests_whose_rules_expire_in_a_slot_count_once(
    server: Server, tmp_path: Path, then: str, mode: str
) -> None:
    """They go back to the scheduler and are decided again (CAC-07).

    A middleware that repeats requests after exceptions sees none of it.
    """
    living = [("Cache-Control", "max-age=0.3")]
    robots = until(1.0, reply(NO, headers=living), reply(then, headers=living))
    site = server.site("127.0.0.2", robots)
    settings = {
        "ROBOTSPEC_CACHE_MIN_TTL": 0.1,
        "DOWNLOAD_DELAY": 0.5,
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.RepeatsErrors": 610},
    }
    urls = [site.url(f"/{n}") for n in range(6)]
    result, outcomes = counted(tmp_path, urls, settings, [site], mode=mode)
    assert len(site.robots_asked) > 1
    # Refused pages are repeated, and count once.
    assert result.stats.get("repeated", 0) == 3 * outcomes.get("refused_rule", 0)
    assert result.ended_once(urls)
    assert sum(outcomes.values()) == len(urls)
    assert outcomes.get("rules", 0) == len(site.pages_asked)


def test_a_final_url_that_is_refused_has_left(server: Server, tmp_path: Path) -> None:
    """Refused by the rules of another origin, or unreachable; allowed, it stays as it counts."""
    other, down = server.site("127.0.0.3", NO), server.site("127.0.0.4", reply("", 503))
    site = server.site("127.0.0.2")
    finals = {
        "/same": site.url("/no"),
        "/other": other.url("/no/page"),
        "/down": down.url("/x"),
        "/fine": site.url("/yes"),
        "/fine-too": other.url("/yes"),
    }
    pages = {path: reply("a page", headers=[("X-Final", to)]) for path, to in finals.items()}
    site = server.site("127.0.0.2", NO, pages=pages)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900},
        "ROBOTSPEC_HOLD_TIMEOUT": 0,
    }
    urls = [site.url(path) for path in finals]
    result, outcomes = counted(tmp_path, urls, settings, [site, other, down])
    assert outcomes == {
        "rules": 2,
        "refused_rule": 2,
        "refused_unreachable": 1,
        "after_sending": 3,
    }
    assert result.lines("3 refused (2 by a rule, 1 unreachable, 3 of them after sending)")


def test_a_page_whose_header_refuses_it_has_left(server: Server, tmp_path: Path) -> None:
    """USE-05; a page that a line refuses has not."""
    header = reply("page", headers=[("Content-Usage", "train-ai=n")])
    robots = "User-agent: *\nContent-Usage: /line train-ai=n\n"
    site = server.site("127.0.0.2", robots, pages={"/header": header})
    settings = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
    urls = [site.url(path) for path in ("/header", "/line", "/yes")]
    _, outcomes = counted(tmp_path, urls, settings, [site])
    assert outcomes == {"rules": 1, "refused_usage": 2, "after_sending": 1}
    assert site.pages_asked.count("/line") == 0


def test_a_retry_and_a_redirect_are_requests_of_their_own(server: Server, tmp_path: Path) -> None:
    """Each of them leaves, or is refused."""
    pages = {
        "/retried": in_turn(reply("", 503), reply("", 503), reply("page")),
        "/moved": redirect("/there"),
        "/led": redirect("/no"),
    }
    site = server.site("127.0.0.2", NO, pages=pages)
    _, outcomes = counted(tmp_path, [site.url(path) for path in pages], {}, [site])
    assert outcomes == {"rules": 3 + 2 + 1, "refused_rule": 1}


def test_a_page_from_a_cache_was_not_sent(server: Server, tmp_path: Path) -> None:
    """Nor one that another middleware drops or sends back."""
    site = server.site("127.0.0.2", NO)
    urls = [site.url(f"/{n}") for n in range(9)]
    cached = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    crawl(urls, cached)
    site.log.clear()
    _, outcomes = counted(tmp_path, urls, cached, [site])
    assert outcomes == {"rules": 9, "not_sent": 9}
    assert site.pages_asked == []


def test_a_request_that_another_middleware_handles_counts_once(
    server: Server, tmp_path: Path
) -> None:
    """Dropped: not sent. Answered: not seen. Sent back to the scheduler, the same object: once."""
    site = server.site("127.0.0.2", NO)
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Meddles": 500}}
    urls = [site.url(f"/{what}/{n}") for what in ("drop", "answer", "later") for n in range(3)]
    _, outcomes = counted(tmp_path, urls, settings, [site])
    assert outcomes == {"rules": 9, "answered_by_middleware": 3, "not_sent": 3}


@pytest.mark.parametrize("plugin", ["LikeSplash", "LikePuppeteer"])
def test_a_page_that_a_service_gets_counts_once(
    server: Server, tmp_path: Path, plugin: str
) -> None:
    """Its retries count; one that is not checked is not checked, one refused late has left."""
    pages = {"/moved": redirect("/no"), "/fine": reply("a page")}
    site = server.site("127.0.0.2", NO, pages=pages)
    page = in_turn(reset(), renderer(splash, []))
    renders = server.site("127.0.8.1", "User-agent: *\nDisallow: /", page=page)
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "DOWNLOADER_MIDDLEWARES": {f"tests.crawl.middlewares.{plugin}": 725},
        "RENDERER": renders.url("/render.json"),
    }
    requests = [
        *(site.url(path) for path in pages),
        {"url": site.url("/no/exempt"), "meta": EXEMPT},
    ]
    _, outcomes = counted(tmp_path, requests, settings, [renders])
    assert outcomes == {
        "rules": 1,
        "dont_obey_robotstxt": 2,  # it went first, and once more after the reset
        "refused_rule": 1,
        "after_sending": 1,
    }


def test_a_page_of_another_middleware_is_not_unsent(server: Server, tmp_path: Path) -> None:
    """The evidence says that its sending was not seen, and a replay and an audit accept that.

    Another middleware may make a request of its response before ours gets it.
    """
    site = server.site("127.0.0.2", NO)
    folder = tmp_path / "evidence"
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.EndsPagesBehind": 500},
        "ROBOTSPEC_EVIDENCE": str(folder),
    }
    paths = ("/behind-answered", "/no/behind-answered", "/yes", "/behind-moved")
    urls = [site.url(path) for path in paths]
    result, outcomes = counted(tmp_path, urls, settings, [site])
    assert outcomes == {"rules": 4, "refused_rule": 1, "answered_by_middleware": 2}
    assert result.lines("4 let through, 1 refused (1 by a rule), 2 answered by a middleware")
    assert result.stats["robotspec/answered_by_middleware"] == 2
    (log,) = folder.glob("decisions-*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(line["status"] for line in lines if line["type"] == "answered") == [200, 302]
    found = replay(folder)
    assert (found.problems, found.sent, found.answered_by_middleware) == ([], 2, 2)


def test_pages_that_were_never_decided_are_named_once(server: Server, tmp_path: Path) -> None:
    """A middleware before ours answers: the log names it with its number, in a dry run too."""
    site = server.site("127.0.0.2", NO)
    name = "tests.crawl.middlewares.EndsPagesBefore"
    settings: dict[str, Any] = {"DOWNLOADER_MIDDLEWARES": {name: 50}}
    urls = [site.url(path) for path in ("/before-answered", "/no/before-answered", "/yes")]
    result, outcomes = counted(tmp_path, urls, settings, [site])
    assert outcomes == {"rules": 1}
    for each in (result, crawl(urls, {**settings, "ROBOTSPEC_DRY_RUN": True})):
        (line,) = each.lines("WARNING", "not checked")
        assert "2 responses came from a middleware before this one" in line
        assert line.endswith(f"were not checked ({name} at 50)")
    assert result.stats["robotspec/never_decided"] == 2


def test_a_refused_page_that_another_middleware_repeats_counts_once(
    server: Server, tmp_path: Path
) -> None:
    """One that the spider repeats counts again."""
    site = server.site("127.0.0.2", NO)
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.RepeatsErrors": 610}}
    result, outcomes = counted(tmp_path, [site.url("/no"), site.url("/yes")], settings, [site])
    assert outcomes == {"rules": 1, "refused_rule": 1}
    assert result.stats["repeated"] == 3
    assert list(result.errors) == [site.url("/no")]
    again = {"links": [site.url("/no"), site.url("/no/other")]}
    every = {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}
    site.log.clear()
    folder = tmp_path / "again"
    folder.mkdir()
    _, outcomes = counted(
        folder, [site.url("/no")], every, [site], spider="follows_with_meta", more=again
    )
    assert outcomes["refused_rule"] == 3
