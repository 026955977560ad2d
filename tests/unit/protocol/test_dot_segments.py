"""Dot segments of a path, as servers resolve them (PAT-15)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.web.client import URI

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.paths import resolve_dots
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

SITE = "http://a.example"
FILE = b"User-agent: *\nDisallow: /private/\nDisallow: /caf\xc3\xa9/\nAllow: /private/../open\n"

_segments = st.sampled_from(
    ["", "a", "b", ".", "..", "%2e", "%2E.", ".%2e", "...", "..;", "a%2f..", "private", "é"]
)
paths = st.lists(_segments, min_size=1, max_size=8).map(lambda parts: "/" + "/".join(parts))
rests = st.sampled_from(["", "?a=/../b", "#/../b", "?\\..\\", "?a#/./"])


def _by_the_algorithm(path: str) -> str:
    """RFC 3986, section 5.2.4, step by step."""
    output = ""
    while path:
        if path.startswith("/./") or path == "/.":
            path = "/" + path[3:]
        elif path.startswith("/../") or path == "/..":
            path = "/" + path[4:]
            output = output.rpartition("/")[0]
        else:
            end = path.find("/", 1)
            end = len(path) if end < 0 else end
            output, path = output + path[:end], path[end:]
    return output


@given(path=paths, rest=rests)
def test_paths_are_resolved_by_the_algorithm_of_the_rfc(path: str, rest: str) -> None:
    served = resolve_dots(SITE + path + rest)
    path = path.removesuffix(";")
    plain = "/".join(
        dots if set(dots := part.lower().replace("%2e", ".")) == {"."} else part
        for part in path.split("/")
    )
    expected = _by_the_algorithm(plain)
    assert served == SITE + expected + rest or (expected == plain and served == SITE + path + rest)
    assert resolve_dots(served) == served
    assert resolve_dots("//u@a.example:81" + path) == "//u@a.example:81" + expected or (
        expected == plain
    )


_parameters = st.lists(st.sampled_from(["a", "b;", ";", ";", "c/"]), min_size=1, max_size=6)


@given(_parameters.map("".join), st.sampled_from(["", "?a;", "?;/;", "#a;"]))
def test_empty_parameters_are_left_out_as_twisted_does(path: str, rest: str) -> None:
    url = f"{SITE}/{path}{rest}"
    sent = URI.fromBytes(url.encode()).originForm.decode()  # type: ignore[no-untyped-call]
    assert resolve_dots(url).partition("#")[0] == SITE + sent


@pytest.mark.parametrize("edition", EDITIONS)
@given(path=paths, rest=rests)
def test_a_page_is_allowed_if_both_readings_are(edition: str, path: str, rest: str) -> None:
    robots = RobotsTxt.parse(FILE, edition)
    url = SITE + path + rest
    as_given, served = (robots.explain(each, "bot") for each in (url, resolve_dots(url)))
    verdict = robots.explain_served(url, "bot")
    assert verdict.allowed is (as_given.allowed and served.allowed)
    assert (verdict.resolved is not None) is (as_given.allowed and not served.allowed)
    of_bytes = robots.explain_served(url.encode(), "bot")
    assert (of_bytes.allowed, of_bytes.rule) == (verdict.allowed, verdict.rule)
    if verdict.resolved is None:
        assert verdict == as_given
    else:
        assert verdict.resolved == resolve_dots(url)
        assert verdict.rule == served.rule


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_file_itself_reached_by_dots_is_a_page(edition: str) -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /robots.txt\n", edition)
    verdict = robots.explain_served(f"{SITE}/x/../robots.txt", "bot")
    assert not verdict.allowed
    assert verdict.resolved == f"{SITE}/robots.txt"
    assert robots.explain_served(f"{SITE}/robots.txt", "bot").allowed is (edition != "google")


def test_the_file_is_not_read_again_for_each_url(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02: a page may contain thousands of such links."""
    read: list[RobotsTxt] = []
    init = RobotsTxt.__init__

    def counted(robots: RobotsTxt, body: bytes, edition: Edition, truncated: bool) -> None:
        read.append(robots)
        init(robots, body, edition, truncated)

    monkeypatch.setattr(RobotsTxt, "__init__", counted)
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /robots.txt\n")
    urls = [f"{SITE}/{number}/../robots.txt" for number in range(9)]
    assert not any(robots.explain_served(url, "bot").allowed for url in urls)
    assert len(read) == 2


def test_paths_alone_are_resolved_too() -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: //b/\n")
    assert robots.explain_served("/a/../private", "bot").allowed
    assert robots.explain_served("/..//b/", "bot").resolved == "////b/"
