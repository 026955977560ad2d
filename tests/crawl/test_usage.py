"""Usage preferences in a crawl: recorded, combined with the response's header, and obeyed (USE)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Result, crawl
from tests.support.responses import in_turn, redirect, reply
from tests.support.server import Server, Site

MARSHAL = "scrapy.squeues.MarshalFifoDiskQueue"
ROBOTS = """\
License: https://example.com/license.xml
User-agent: *
Disallow: /never/
Content-Usage: train-ai=n, search=y
Content-Usage: /open/ train-ai=y
Content-Usage: /silent/ search=y
"""


def page(header: str | None = None, status: int = 200) -> Any:
    """A page with a Content-Usage header."""
    return reply("page", status, [] if header is None else [("Content-Usage", header)])


PAGES = {
    "/open/closed-by-header": page("train-ai=n"),
    "/open/garbage": page("train-ai=n, Train-AI=y;;"),
    "/silent/allowed-by-header": page("train-ai=y"),
    "/closed-stays-closed": page("train-ai=y"),
}
PATHS = [
    "/closed", "/closed-stays-closed", "/never/x", "/open/x", "/open/closed-by-header",
    "/open/garbage", "/silent/x", "/silent/allowed-by-header",
]  # fmt: skip


def crawl_usage(
    site: Site,
    paths: list[Any],
    settings: Any = None,
) -> Result:
    """A crawl of some paths of *site*, or URLs, whose spider notes usage preferences."""
    entries = [site.url(path) if str(path).startswith("/") else path for path in paths]
    return crawl(entries, settings, spider="noting_usage")


def usages(result: Result, site: Site) -> dict[str, Any]:
    """By path: the preferences in the meta of each response."""
    return {event["url"].removeprefix(site.url("")): event for event in result.of("usage")}


def refused(result: Result, site: Site) -> dict[str, tuple[str, int | None, str | None]]:
    """By path: label, line and source of each refusal by usage."""
    return {
        event["url"].removeprefix(site.url("")): (event["label"], event["line"], event["source"])
        for event in result.of("refusal")
    }


def counts(result: Result) -> dict[str, int]:
    """The stats about usage."""
    beginning = "robotspec/usage/"
    return {
        name.removeprefix(beginning): number
        for name, number in result.stats.items()
        if name.startswith(beginning)
    }


def test_preferences_are_recorded_and_refuse_nothing_by_default(server: Server) -> None:
    """USE-05, USE-06: file and header are combined in the meta of the response."""
    site = server.site("127.0.0.2", ROBOTS, pages=PAGES)
    result = crawl_usage(site, PATHS)
    found = usages(result, site)
    assert {path: event["preferences"] for path, event in found.items()} == {
        "/closed": {"train-ai": "disallow", "search": "allow"},
        "/closed-stays-closed": {"train-ai": "disallow", "search": "allow"},
        "/open/x": {"train-ai": "allow"},
        "/open/closed-by-header": {"train-ai": "disallow"},
        "/open/garbage": {"train-ai": "allow"},
        "/silent/x": {"search": "allow"},
        "/silent/allowed-by-header": {"search": "allow", "train-ai": "allow"},
    }
    assert found["/closed"]["sources"] == [["content-usage", 4]]
    assert found["/open/closed-by-header"]["sources"] == [["content-usage", 5], ["header", None]]
    assert {tuple(event["licenses"]) for event in found.values()} == {
        ("https://example.com/license.xml",)
    }
    assert list(result.errors) == [site.url("/never/x")]
    assert counts(result) == {}


def test_disallowed_use_is_refused_before_the_download_or_before_the_spider(server: Server) -> None:
    """USE-05: by the file before the page is fetched, by the header before the spider sees it."""
    site = server.site("127.0.0.2", ROBOTS, pages=PAGES)
    settings = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
    result = crawl_usage(site, PATHS, settings)
    assert refused(result, site) == {
        "/closed": ("train-ai", 4, "content-usage"),
        "/closed-stays-closed": ("train-ai", 4, "content-usage"),
        "/open/closed-by-header": ("train-ai", None, "header"),
    }
    assert sorted(usages(result, site)) == [
        "/open/garbage", "/open/x", "/silent/allowed-by-header", "/silent/x",
    ]  # fmt: skip
    assert not {"/closed", "/closed-stays-closed", "/never/x"} & set(site.pages_asked)
    assert "/open/closed-by-header" in site.pages_asked
    by_file = result.errors[site.url("/closed")]
    assert by_file["type"] == "ForbiddenUsage"
    assert {"ForbiddenByRobots", "IgnoreRequest"} <= set(by_file["bases"])
    assert by_file["reason"] == "usage"
    assert by_file["text"] == (
        "Forbidden by robots.txt (train-ai is disallowed by line 4: "
        "'Content-Usage: train-ai=n, search=y')"
    )
    assert result.errors[site.url("/open/closed-by-header")]["text"] == (
        "Forbidden by robots.txt (train-ai is disallowed by the response header: "
        "'Content-Usage: train-ai=n')"
    )
    assert result.errors[site.url("/never/x")]["type"] == "ForbiddenByRobots"
    assert counts(result) == {"train-ai/allow": 3, "train-ai/disallow": 3, "train-ai/unknown": 1}
    assert result.stats["robotstxt/forbidden"] == 4
    assert result.ended_once(map(site.url, PATHS))
    assert "Traceback" not in result.log
    assert len(result.lines("requests", "4 let through, 4 refused", "3 by a usage preference")) == 1


@pytest.mark.parametrize(
    ("policy", "let_through"), [("refuse-disallowed", True), ("require-allowed", False)]
)
def test_site_without_a_robots_txt_has_no_preference(
    server: Server, policy: str, let_through: bool
) -> None:
    """USE-05: unknown, not allowed."""
    site = server.site("127.0.0.2", reply("", 404), pages={"/y": page("search=y")})
    settings = {"ROBOTSPEC_USAGE": ["search"], "ROBOTSPEC_USAGE_POLICY": policy}
    result = crawl_usage(site, ["/x", "/y"], settings)
    assert sorted(usages(result, site)) == (["/x", "/y"] if let_through else ["/y"])
    assert counts(result) == {"search/allow": 1, "search/unknown": 1}


def test_preferences_of_a_final_url_count_where_a_handler_follows_redirects(
    server: Server,
) -> None:
    """USE-05: those of the URL that the content comes from, combined with its header."""
    end = server.site("127.0.0.3", "User-agent: *\nContent-Usage: a=n\nContent-Usage: /o a=y\n")

    def to(path: str, *headers: tuple[str, str]) -> Any:
        return reply("page", 200, [("X-Final", end.url(path)), *headers])

    pages = {"/1": to("/x"), "/2": to("/o"), "/3": to("/o", ("Content-Usage", "a=n"))}
    site = server.site("127.0.0.2", "User-agent: *\nContent-Usage: b=n\n", pages=pages)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900},
        "ROBOTSPEC_USAGE": ["a"],
        "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed",
    }
    result = crawl_usage(site, ["/1", "/2", "/3"], settings)
    (event,) = result.of("usage")
    assert (event["url"], event["preferences"]) == (end.url("/o"), {"a": "allow"})
    assert refused(result, site) == {
        "/1": ("a", 2, "content-usage"),
        "/3": ("a", None, "header"),
    }
    assert counts(result) == {"a/allow": 1, "a/disallow": 2}


def test_retried_page_goes_through_a_job_directory(server: Server, tmp_path: Path) -> None:
    """USE-05, USE-09: preferences can be written to disk; those of the last response count."""
    answers = in_turn(page("a=n", 503), page("b=y"))
    site = server.site("127.0.0.2", "User-agent: *\nContent-Usage: c=n\n", pages={"/x": answers})
    result = crawl_usage(site, ["/x"], {"JOBDIR": str(tmp_path)})
    assert usages(result, site)["/x"]["preferences"] == {"b": "allow", "c": "disallow"}
    assert result.stats["scheduler/enqueued/disk"] >= 2
    assert "scheduler/enqueued/memory" not in result.stats
    assert result.lines("Unable to serialize") == []


def test_headers_are_one_dictionary_or_state_nothing(server: Server) -> None:
    """USE-04, USE-05, SAF-01: lines of one name are joined; one that does not parse is ignored."""
    headers = ["\x80\xff=n", "train-ai=" + "n" * 5000, ",", "train-ai=n;", "é"]
    pages = {f"/{number}": page(header) for number, header in enumerate(headers)}
    both = [("Content-Usage", "a=n, b=n"), ("content-usage", "a=y")]
    site = server.site("127.0.0.2", "", pages={**pages, "/both": reply("", 200, both)})
    settings = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
    result = crawl_usage(site, [*pages, "/both"], settings)
    found = {path: event["preferences"] for path, event in usages(result, site).items()}
    assert found.pop("/both") == {"a": "allow", "b": "disallow"}
    assert list(found.values()) == [{}] * len(pages)
    assert counts(result) == {"train-ai/unknown": len(pages) + 1}
    assert "Traceback" not in result.log


def test_policy_token_refuses_a_page_for_its_use_alone(server: Server) -> None:
    """USE-10: a file without any other line is enough; the page may be crawled for other uses."""
    robots = "User-agent: __usage_ai-training\nDisallow: /blog/\n\nUser-agent: *\nAllow: /\n"
    site = server.site("127.0.0.99", robots)
    settings = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
    result = crawl_usage(site, ["/blog/1", "/a"], settings)
    assert refused(result, site) == {"/blog/1": ("train-ai", 2, "policy-token")}
    assert counts(result) == {"train-ai/disallow": 1, "train-ai/unknown": 1}
    settings["ROBOTSPEC_USAGE"] = ["search"]
    assert refused(crawl_usage(site, ["/blog/1", "/a"], settings), site) == {}


def test_overrides_decide_about_usage(server: Server) -> None:
    """USE-05: a text of the user's own states preferences, and an ignored site is not refused."""
    pages = {"/closed-by-header": page("train-ai=n")}
    own = server.site("127.0.0.2", ROBOTS, pages=pages)
    ignored = server.site("127.0.0.3", ROBOTS, pages=pages)
    settings = {
        "ROBOTSPEC_USAGE": ["train-ai"],
        "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed",
        "ROBOTSPEC_OVERRIDES": {
            "127.0.0.2": "License: http://a/b\nUser-agent: *\nContent-Usage: /own train-ai=n\n",
            "127.0.0.3": "ignore",
        },
    }
    paths = ["/own", "/x", "/closed-by-header", ignored.url("/x"), ignored.url("/closed-by-header")]
    result = crawl_usage(own, paths, settings)
    assert refused(result, own) == {
        "/own": ("train-ai", 3, "content-usage"),
        "/closed-by-header": ("train-ai", None, "header"),
    }
    found = {event["url"]: event for event in result.of("usage")}
    assert found[own.url("/x")]["licenses"] == ["http://a/b"]
    assert found[ignored.url("/closed-by-header")]["preferences"] == {"train-ai": "disallow"}
    assert own.robots_asked == ignored.robots_asked == []


def test_request_that_does_not_obey_robots_txt_is_not_refused_by_usage(server: Server) -> None:
    """APP-01: nor counted, even with the meta of an earlier page."""
    site = server.site("127.0.0.2", ROBOTS, pages=PAGES)
    settings = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "require-allowed"}
    entry = {
        "url": site.url("/open/closed-by-header"),
        "meta": {"dont_obey_robotstxt": True, "robotspec": {"allowed": True}},
    }
    result = crawl_usage(site, [entry], settings)
    assert list(result.responses) == [site.url("/open/closed-by-header")]
    assert counts(result) == {}


def test_a_request_that_is_scheduled_again_is_stored(server: Server, tmp_path: Path) -> None:
    """A redirect, a retry, and a link with its page's meta: not each queue can store an object."""
    retried = in_turn(reply(status=503), page("search=y"))
    site = server.site("127.0.0.2", ROBOTS, pages={"/moved": redirect("/a"), "/down": retried})
    settings = {"SCHEDULER_DISK_QUEUE": MARSHAL, "SCHEDULER_START_DISK_QUEUE": MARSHAL}
    result = crawl(
        [site.url("/moved")],
        {**settings, "JOBDIR": str(tmp_path), "SCHEDULER_DEBUG": True},
        spider="follows_with_meta",
        more={"links": [site.url("/down"), site.url("/b")]},
    )
    assert site.pages_asked == ["/moved", "/a", "/down", "/down", "/b"]
    assert not result.lines("Unable to serialize request")
    assert result.stats["scheduler/dequeued/disk"] == 5
