"""Redirect chains without a network (FET-03 to FET-07, FET-18)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec.access.exchange import Exchange, RedirectChain, RedirectLimits
from scrapy_robotspec.access.origin import Origin

ROBOTS = "https://example.com/robots.txt"


def chain(**limits: object) -> RedirectChain:
    origin = Origin.of(ROBOTS)
    assert origin is not None
    return RedirectChain(origin, RedirectLimits(**{"max_redirects": 5, **limits}))  # type: ignore[arg-type]


def redirect(*locations: str, status: int = 301) -> Exchange:
    return Exchange(ROBOTS, status, tuple(("location", location) for location in locations))


def test_a_chain_follows_to_its_last_response() -> None:
    walk = chain()
    assert walk.follow(redirect("/a"))
    assert walk.follow(redirect("http://other.example/b"))
    assert walk.url == "http://other.example/b"
    assert not walk.follow(Exchange(walk.url, 200))
    assert walk.error is None
    assert [(hop.url, hop.target) for hop in walk.hops] == [
        (ROBOTS, "https://example.com/a"),
        ("https://example.com/a", "http://other.example/b"),
    ]


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (redirect(), "no location"),
        (redirect(""), "no location"),
        (redirect("https://"), "no location"),
        (redirect("http://" + "a" * 2000), "no location"),
        (redirect("ftp://example.com/robots.txt"), "foreign scheme"),
        (redirect("data:,Allow"), "foreign scheme"),
    ],
)
def test_a_redirect_that_cannot_be_followed_ends_the_chain(response: Exchange, error: str) -> None:
    walk = chain()
    assert not walk.follow(response)
    assert walk.error == error


@pytest.mark.parametrize("location", ["", "/a"])
def test_fet07_a_304_is_no_redirect(location: str) -> None:
    """It says that a file exists, and brings none."""
    walk = chain()
    assert not walk.follow(redirect(location, status=304))
    assert (walk.error, walk.hops) == (None, ())


def test_cac04_every_response_of_a_chain_counts_for_vary() -> None:
    walk = chain()
    walk.follow(replace(redirect("/a"), headers=(("Location", "/a"), ("Vary", "User-Agent"))))
    walk.follow(redirect("/b"))
    assert walk.varies


def test_limits_end_a_chain() -> None:
    walk = chain(max_redirects=2)
    assert [walk.follow(redirect(f"/{n}")) for n in range(3)] == [True, True, False]
    assert walk.error == "too many redirects"
    walk = chain(refuse_private=True)
    assert not walk.follow(redirect("http://10.0.0.1/"))
    assert walk.error == "private address"
    walk = chain(recognises_loops=True)
    assert not walk.follow(redirect("/robots.txt"))
    assert walk.error == "loop"


@pytest.mark.parametrize(
    ("locations", "target"),
    [
        (("/a", "/b"), "https://example.com/b"),
        (("/a#part",), "https://example.com/a"),
        (("/caf\xc3\xa9",), "https://example.com/caf%C3%A9"),
        (("//other.example/",), "https://other.example/"),
        (("http://user:secret@other.example/a@b",), "http://other.example/a@b"),
        (("http://[",), None),
        (("http://ex ample/",), None),
        (("http://ex%20ample/",), None),
        (("http://other.exam|ple/",), None),
        (("http://caf\xc3\xa9.example/",), "http://xn--caf-dma.example/"),
        (("http://caf\xe9.example/",), None),  # no UTF-8
    ],
)
def test_targets(locations: tuple[str, ...], target: str | None) -> None:
    walk = chain()
    walk.follow(redirect(*locations))
    assert walk.hops[0].target == target


def test_urls_of_hops_are_stored_up_to_a_length() -> None:
    """A record stays small; the redirect itself is followed whole."""
    walk, path = chain(), "/" + "a" * 3000
    assert walk.follow(redirect(path))
    assert walk.url == f"https://example.com{path}"
    assert walk.follow(redirect("/b"))
    (first, second) = walk.hops
    assert first.target == second.url == walk.hops[0].target
    assert len(second.url) == 2000
