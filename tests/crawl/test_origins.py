"""Whose robots.txt governs a URL: one origin, one file (LOC)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import tls
from tests.support.crawl import WAYS, crawl
from tests.support.responses import Exchange, redirect, reply
from tests.support.server import ROBOTS, Server


def only(path: str) -> str:
    """A robots.txt that allows one path."""
    return f"User-agent: *\nAllow: {path}$\nDisallow: /\n"


@pytest.fixture
def secure() -> Iterator[Server]:
    """A server that speaks HTTPS too."""
    with Server(tls.context()) as running:
        yield running


@pytest.mark.parametrize("mode", WAYS)
def test_scheme_host_and_port_make_an_origin(secure: Server, mode: str) -> None:
    """LOC-02, LOC-09: each of four origins follows its own file."""
    sites = [
        secure.site("127.0.0.2", only("/1")),
        secure.site("127.0.0.2", only("/2"), port=secure.other_port),
        secure.site("127.0.0.2", only("/3"), port=secure.tls_port),
        secure.site("127.0.0.3", only("/4")),
    ]
    urls = [site.url(f"/{n}") for site in sites for n in range(1, 5)]
    result = crawl(urls, mode=mode)
    assert [site.pages_asked for site in sites] == [["/1"], ["/2"], ["/3"], ["/4"]]
    assert [len(site.robots_asked) for site in sites] == [1, 1, 1, 1]
    assert result.ended_once(urls)


def test_a_redirect_to_https_is_followed(secure: Server) -> None:
    """FET-04: across schemes."""
    end = secure.site("127.0.0.2", only("/yes"), port=secure.tls_port)
    first = secure.site("127.0.0.2", redirect(end.url("/robots.txt")))
    crawl([first.url("/yes"), first.url("/no")])
    assert first.pages_asked == ["/yes"]


def test_certificates_are_trusted_as_for_pages_and_no_tls_is_unreachable(secure: Server) -> None:
    """FET-14: the robots.txt comes the way the page would come."""
    site = secure.site("127.0.0.2", only("/yes"), port=secure.tls_port)
    plain = secure.site("127.0.0.3", only("/yes"), port=secure.port)
    not_tls = f"https://127.0.0.3:{plain.port}/yes"
    settings = {"ROBOTSPEC_RETRY_TIMES": 0, "ROBOTSPEC_FETCH_TIMEOUT": 1}
    result = crawl([not_tls, site.url("/yes")], settings)
    assert result.errors[not_tls]["type"] == "RobotsUnreachable"
    assert site.pages_asked == ["/yes"]


#: URLs and the host whose file governs each.
SAME_ORIGIN = [
    "http://www.example.com/a",
    "http://WWW.Example.COM/b",
    "http://www.example.com:80/c",
    "http://www.example.com:/d",
    "http://user:password@www.example.com/e",
    "http://www.example.com./f",
]
OTHERS = ["http://example.com/", "http://shop.www.example.com/", "http://www.xn--mller-kva.eu/x"]


def test_names_of_one_host_share_a_file_and_others_do_not(server: Server) -> None:
    """LOC-03, LOC-05, LOC-08, LOC-10: seen through a proxy, where any name can be asked."""
    env = {"http_proxy": f"http://127.0.0.9:{server.port}"}
    result = crawl([*SAME_ORIGIN, *OTHERS, "http://www.müller.eu/y"], env=env)
    asked = [asked.host.rstrip(".") for asked in server.log if asked.path == "/robots.txt"]
    assert sorted(asked) == [
        "example.com",
        "shop.www.example.com",
        "www.example.com",
        "www.xn--mller-kva.eu",
    ]
    assert len(result.responses) + len(result.errors) == len(SAME_ORIGIN) + len(OTHERS) + 1


def test_an_address_and_a_name_of_it_follow_files_of_their_own(server: Server) -> None:
    """LOC-07: one server answers for both, with the file of the host that is asked."""

    async def robots(exchange: Exchange) -> bool:
        host = exchange.asked.header("host") or ""
        return await reply(only("/name" if host.startswith("localhost") else "/address"))(exchange)

    site = server.site("127.0.0.1", robots)
    hosts = [f"127.0.0.1:{site.port}", f"localhost:{site.port}"]
    crawl([f"http://{host}/{path}" for host in hosts for path in ("address", "name")])
    assert sorted(asked.header("host") or "" for asked in site.robots_asked) == hosts
    pages = [(asked.header("host"), asked.path) for asked in site.log if asked.path != ROBOTS]
    assert sorted(pages) == [(hosts[0], "/address"), (hosts[1], "/name")]


def test_user_info_appears_nowhere(server: Server) -> None:
    """LOC-10: no robots.txt request, log line of ours or message tells a password."""
    site = server.site("127.0.0.2", only("/yes"))
    urls = [f"http://user:sesame@127.0.0.2:{site.port}/no"]
    result = crawl(urls)
    assert "sesame" not in str(site.log)
    assert not [line for line in result.lines("sesame") if "scrapy_robotspec" in line]
    assert "sesame" not in result.errors[urls[0]]["text"]


def test_a_robots_txt_in_a_folder_is_a_page(server: Server) -> None:
    """LOC-04: it is crawled by the rules, never obeyed; LOC-01: the same in another case."""
    site = server.site("127.0.0.2", "User-agent: *\nDisallow: /ROBOTS")
    urls = [site.url(p) for p in ("/folder/robots.txt", "/folder/x", "/robots.txt", "/ROBOTS.txt")]
    result = crawl(urls)
    assert [asked.path for asked in site.log] == [
        "/robots.txt",
        "/folder/robots.txt",
        "/folder/x",
        "/robots.txt",
    ]
    assert list(result.errors) == [site.url("/ROBOTS.txt")]


def test_nothing_but_record_and_rules_is_left_of_an_idle_origin() -> None:
    """Memory does not grow otherwise with the origins that a crawl has visited."""
    urls = [f"http://h{n}.example{path}" for n in range(300) for path in ("/yes", "/no")]
    handlers = {"http": "tests.crawl.middlewares.AnswersAtOnce"}
    settings = {"LOG_LEVEL": "INFO", "DOWNLOAD_HANDLERS": handlers}
    result = crawl(urls, settings, spider="counting_tables", seconds=250)
    assert result.ended_once(urls)
    rules, *others = result.of("tables")[-1]["sizes"]  # records have keys of bytes
    assert rules == 300
    assert all(size <= 50 for size in others), others
