"""The robots.txt request itself: what it sends, what decides, and how long it may take."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from scrapy import version_info

from tests.support.crawl import PROXY_WAYS, WAYS, Running, crawl
from tests.support.responses import after, in_turn, once, raw, redirect, reply, silence
from tests.support.server import Server, Site

BODY = "User-agent: *\nDisallow: /no\n"


def page_paths(site: Site) -> list[str]:
    """The paths of the pages that were requested; /moved belongs to a robots.txt."""
    return sorted(path for path in site.pages_asked if path != "/moved")


def test_no_conditional_or_partial_request_leaves(server: Server) -> None:
    """FET-01: whatever the project's default headers contain, redirects included."""
    site = server.site("127.0.0.2", redirect("/moved"), pages={"/moved": reply(BODY)})
    headers = {
        "If-Modified-Since": "Sat, 29 Oct 1994 19:43:31 GMT",
        "If-None-Match": '"x"',
        "If-Match": '"x"',
        "If-Unmodified-Since": "Sat, 29 Oct 1994 19:43:31 GMT",
        "If-Range": '"x"',
        "Range": "bytes=0-9",
        "X-Kept": "yes",
    }
    crawl([site.url("/yes")], {"DEFAULT_REQUEST_HEADERS": headers})
    sent = [asked for asked in server.log if asked.path in ("/robots.txt", "/moved")]
    assert len(sent) == 2
    for asked in sent:
        assert asked.header("x-kept") == "yes"
        assert [name for name in headers if name != "X-Kept" and asked.header(name.lower())] == []


def damaged(status: int, *headers: str) -> dict[str, bytes]:
    """Responses with *status* whose bodies cannot be read, by kind of damage."""
    bodies = {
        "short body": (b"Content-Length: 900", b"User-agent: *\nDisallow: /\n"),
        "broken chunk": (b"Transfer-Encoding: chunked", b"20\r\nUser-agent"),
        "unknown coding": (b"Content-Encoding: zip\r\nContent-Length: 3", b"\0\1\2"),
        "cut gzip": (b"Content-Encoding: gzip\r\nContent-Length: 4", b"\x1f\x8b\x08\0"),
    }
    head = "\r\n".join((f"HTTP/1.1 {status} Whatever", *headers, "")).encode()
    return {kind: head + line + b"\r\n\r\n" + body for kind, (line, body) in bodies.items()}


@pytest.mark.parametrize("mode", WAYS)
def test_the_status_decides_and_not_the_body(server: Server, mode: str) -> None:
    """FET-03, FET-08: a damaged 404 allows, a damaged 302 is followed; a damaged 200 is neither."""
    rules = server.site("127.0.3.1", BODY, pages={"/rules": reply(BODY)})
    cases = {
        f"{status} {kind}": (server.site(f"127.0.2.{status % 100}{n}", raw(data)), expected)
        for status, headers, expected in (
            (404, (), ["/no", "/yes"]),
            (410, (), ["/no", "/yes"]),
            (302, (f"Location: {rules.url('/rules')}",), ["/yes"]),
            (200, (), []),
        )
        for n, (kind, data) in enumerate(damaged(status, *headers).items())
    }
    urls = [site.url(path) for site, _ in cases.values() for path in ("/yes", "/no")]
    settings = {"ROBOTSPEC_HOLD_TIMEOUT": 0, "ROBOTSPEC_RETRY_TIMES": 0}
    result = crawl(urls, settings, mode=mode)
    found = {name: page_paths(site) for name, (site, _) in cases.items()}
    assert found == {name: expected for name, (_, expected) in cases.items()}
    assert "Traceback" not in result.log


@pytest.mark.skipif(version_info < (2, 19), reason="this Scrapy has no handler for aiohttp")
@pytest.mark.parametrize("mode", ["asyncio", "none"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_attempts_that_were_given_up_are_not_sent_later(
    server: Server, mode: str, dry_run: bool
) -> None:
    """A handler of the user's has no connection for them until then."""
    released: list[float] = []
    held = server.site("127.0.0.2", BODY, page=once(lambda: released, reply()))
    later = once(lambda: released and time.monotonic() > released[0] + 1, reply())
    other = server.site("127.0.0.3", BODY, page=later)
    past = {"dont_obey_robotstxt": True, "download_timeout": 30}
    pages = [{"url": site.url("/past"), "meta": past} for site in (held, other)]
    settings = {
        "DOWNLOAD_HANDLERS": {"http": "tests.crawl.middlewares.OneConnection"},
        "ROBOTSPEC_FETCH_TIMEOUT": 1,
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 30 if dry_run else 0.1,  # it reports the first failure
        "ROBOTSPEC_DRY_RUN": dry_run,
        "DOWNLOAD_TIMEOUT": 1,  # of the request of Scrapy's own middleware
        "RETRY_ENABLED": False,
    }
    ended = "we would wait" if dry_run else "given up after 2 attempts"
    with Running([*pages, held.url("/yes")], settings, mode=mode) as running:
        running.wait_until(lambda: ended in running.log)
        released.append(time.monotonic())
        result = running.finish()
    assert held.robots_asked == []
    assert "Traceback" not in result.log or dry_run


@pytest.mark.parametrize("mode", WAYS)
def test_the_download_slot_of_a_robots_txt_ends_with_its_response(
    server: Server, mode: str
) -> None:
    """It would stay for a minute, and be half of the memory of an origin that is asked once."""
    hosts = [f"127.0.2.{n}" for n in range(10, 28)]
    answers = (BODY, reply(status=404), redirect("/moved"))
    sites = [server.site(host, answers[n % 3]) for n, host in enumerate(hosts)]
    middlewares = {"tests.crawl.middlewares.SlotNames": 10}
    urls = [site.url("/yes") for site in sites]
    result = crawl(urls, {"DOWNLOADER_MIDDLEWARES": middlewares}, mode=mode)
    assert [page_paths(site) for site in sites] == [["/yes"]] * len(sites)
    assert result.stats["test/slots"] == hosts


@pytest.mark.parametrize(("edition", "hops"), [("google-2019", 1), ("google-2010", 0)])
def test_a_gate_that_redirects_to_itself_once(server: Server, edition: str, hops: int) -> None:
    """FET-03: the count ends a chain; only the editions before 2019 recognise a loop."""
    site = server.site("127.0.0.2", in_turn(redirect("/robots.txt"), reply(BODY)))
    crawl([site.url("/yes"), site.url("/no")], {"ROBOTSPEC_EDITION": edition})
    assert page_paths(site) == (["/yes"] if hops else ["/no", "/yes"])
    assert len(site.robots_asked) == 1 + hops


# --- time


def test_the_download_delay_is_not_part_of_the_timeout(server: Server) -> None:
    """With hops, after other pages of the slot, and for both schemes' worth of origins."""
    site = server.site("127.0.0.2", redirect("/moved"), pages={"/moved": reply(BODY)})
    other = server.site("127.0.0.2", BODY, port=server.other_port)
    settings = {
        "DOWNLOAD_DELAY": 1.5,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "ROBOTSPEC_FETCH_TIMEOUT": 1.2,
        "ROBOTSPEC_RETRY_TIMES": 0,
    }
    urls = [site.url("/yes"), other.url("/yes"), site.url("/no"), other.url("/no")]
    result = crawl(urls, settings)
    assert page_paths(site) == page_paths(other) == ["/yes"]
    assert [error["type"] for error in result.of("error")] == ["ForbiddenByRobots"] * 2
    # Pages and first robots.txt requests keep the delay; a hop does not use up a turn.
    spaced = sorted(asked.at for asked in server.log if asked.path != "/moved")
    gaps = [second - first for first, second in pairwise(spaced)]
    assert min(gaps) > 1.0, gaps  # the server may read one late


def test_an_expired_request_is_not_sent_later(server: Server) -> None:
    """A robots.txt request that was given up reaches the server once for each attempt."""
    site = server.site("127.0.0.2", silence())
    settings = {
        "DOWNLOAD_DELAY": 0.5,
        "ROBOTSPEC_FETCH_TIMEOUT": 0.7,
        "ROBOTSPEC_RETRY_TIMES": 2,
        "ROBOTSPEC_RETRY_DELAY": 0.2,
    }
    result = crawl([site.url(f"/{n}") for n in range(5)], settings)
    assert len(site.robots_asked) == 3
    assert result.stats["robotstxt/request_count"] == 3
    assert site.pages_asked == []


@pytest.mark.parametrize("unchecked", [False, True])
def test_a_robots_txt_that_waits_for_a_page_that_waits_for_it(
    server: Server, unchecked: bool
) -> None:
    """The wait ends, and the failure says that nothing was asked of the site."""
    site = server.site("127.0.0.2", BODY)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.GetsATokenFirst": 600},
        "TOKEN_UNCHECKED": unchecked,
        "ROBOTSPEC_FETCH_TIMEOUT": 1,
        "ROBOTSPEC_RETRY_TIMES": 0,
    }
    result = crawl([site.url("/yes")], settings)
    if unchecked:
        assert [asked.path for asked in site.log] == ["/token", "/robots.txt", "/yes"]
    else:
        (error,) = result.errors.values()
        assert error["text"] == ("robots.txt unreachable (no answer within 1 s, not seen leaving)")
        assert site.log == []


def test_a_robots_txt_that_ignores_being_cancelled_delays_nothing(server: Server) -> None:
    """Another middleware keeps the response: neither its pages nor others wait for its end."""
    kept, other = server.site("127.0.0.9", reply("", 299)), server.site("127.0.0.2")
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.KeepsRobotsTxt": 600},
        "ROBOTSPEC_FETCH_TIMEOUT": 0.3,
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
    }
    pages = [other.url(f"/{number}") for number in range(3)]
    result = crawl([kept.url("/page"), *pages], settings, mode="select")
    assert set(result.responses) == set(pages)
    assert result.errors[kept.url("/page")]["reason"] == "unreachable"
    assert len(kept.robots_asked) == 2
    assert not result.lines("Traceback")


def test_a_robots_txt_that_another_middleware_cancels_is_an_attempt(server: Server) -> None:
    """It is not repeated without end, as an attempt of a preempted fetch would be."""
    site = server.site("127.0.0.2")
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.CancelsRobotsTxt": 600},
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
    }
    result = crawl([site.url("/page")], settings)
    assert result.errors[site.url("/page")]["reason"] == "unreachable"
    assert result.stats["robotstxt/request_count"] == 2


# --- the way to the origin


@pytest.mark.parametrize(
    ("mode", "edition"), [*((mode, "google-2019") for mode in PROXY_WAYS), ("asyncio", "google")]
)
def test_a_proxys_407_is_no_response_of_the_site(server: Server, mode: str, edition: str) -> None:
    """FET-08: nothing is allowed by it, and it is tried again."""
    site = server.site(
        "site.example", in_turn(reply(status=407), reply(status=407), reply(BODY)), port=80
    )
    proxied = {"proxy": f"http://127.0.0.9:{server.port}"}
    urls = ["http://site.example/yes", "http://site.example/no"]
    settings = {"ROBOTSPEC_RETRY_DELAY": 0.1, "ROBOTSPEC_EDITION": edition}
    crawl([{"url": url, "meta": dict(proxied)} for url in urls], settings, mode=mode)
    assert page_paths(site) == ["/yes"]
    assert len(site.robots_asked) == 3


#: A port on which nothing listens.
DEAD_PROXY = "http://127.0.0.1:1"


def proxied(urls: list[str], proxies: list[str | None]) -> list[dict[str, object]]:
    """Requests of *urls*, each through its proxy or none."""
    return [
        {"url": url, "meta": {"proxy": proxy} if proxy else {}}
        for url, proxy in zip(urls, proxies, strict=True)
    ]


@pytest.mark.parametrize("working", ["another proxy", "no proxy"])
def test_a_dead_proxy_of_some_requests_refuses_no_others(server: Server, working: str) -> None:
    """The next attempt goes the way of another request that waits for the origin."""
    site = server.site("127.0.0.2", BODY)
    urls = [site.url(f"/{n}") for n in range(20)]
    good = f"http://127.0.0.9:{server.port}" if working == "another proxy" else None
    requests = proxied(urls, [*[DEAD_PROXY] * 10, *[good] * 10])
    settings = {"ROBOTSPEC_RETRY_DELAY": 0.1, "RETRY_ENABLED": False}
    result = crawl(requests, settings)
    assert set(urls[10:]) <= set(result.responses)
    refused = [url for url, error in result.errors.items() if error["type"] == "RobotsUnreachable"]
    assert refused == []


def test_a_proxy_with_server_errors_of_its_own_refuses_no_site(server: Server) -> None:
    """Until it has brought another response, the next attempt goes another way."""
    site = server.site("127.0.0.2", BODY)
    urls = [site.url(f"/{n}") for n in range(12)]
    with Server() as broken:
        broken.default = lambda host, port: broken.site(
            host, reply(status=503), page=reply(status=503), port=port
        )
        bad = f"http://127.0.0.9:{broken.port}"
        settings = {"ROBOTSPEC_RETRY_DELAY": 0.1, "RETRY_ENABLED": False}
        result = crawl(proxied(urls, [*[bad] * 10, None, None]), settings)
        robots_asked = [asked for asked in broken.log if asked.path == "/robots.txt"]
    assert result.lines("is unreachable (HTTP status 503 through a proxy)")
    assert set(urls[10:]) <= set(result.responses)
    assert result.ended_once(urls)
    assert len(robots_asked) == 1
    assert len(site.robots_asked) == 1


def test_dead_proxies_that_a_middleware_chooses_refuse_no_site(server: Server) -> None:
    """They are not proven by the one that works, and a fetch tries several."""
    sites = [server.site(f"127.0.1.{n}", BODY) for n in range(1, 21)]
    urls = [site.url("/yes") for site in sites]
    proxies = [DEAD_PROXY, "http://127.0.0.1:2", f"http://127.0.0.9:{server.port}"]
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.RotatesProxies": 350},
        "ROBOTSPEC_RETRY_TIMES": 1,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
        "RETRY_ENABLED": False,
    }
    result = crawl(urls, settings, env={"PROXIES": " ".join(proxies)})
    assert set(result.responses) == set(urls)


def test_a_site_with_server_errors_on_one_way_is_asked_on_another(server: Server) -> None:
    """FET-10: the proxy works for other sites, so the error is the site's, on this way."""
    site, other = server.site("127.0.0.2", BODY), "http://127.0.0.3/"
    urls = [site.url(f"/{n}") for n in range(6)]
    with Server() as far:
        through = far.site("127.0.0.2", after(0.5, reply(status=503)), port=server.port)
        far.site("127.0.0.3", BODY, port=80)
        proxy = f"http://127.0.0.9:{far.port}"
        requests = proxied([other, *urls], [*[proxy] * 6, None])
        settings = {"ROBOTSPEC_RETRY_DELAY": 0.1, "RETRY_ENABLED": False}
        result = crawl(requests, settings)
        assert len(through.robots_asked) == len(site.robots_asked) == 1
    assert result.lines("is unreachable (HTTP status 503)")
    assert result.ended_once([other, *urls])
