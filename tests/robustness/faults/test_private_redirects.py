"""ROBOTSPEC_REFUSE_PRIVATE_REDIRECTS: no stranger's robots.txt makes us ask our own network."""

from __future__ import annotations

import pytest

from tests.support.crawl import crawl
from tests.support.responses import redirect
from tests.support.server import Server, Site

BODY = "User-agent: *\nDisallow: /no\n"
SETTINGS = {"ROBOTSPEC_REFUSE_PRIVATE_REDIRECTS": True}
#: Hosts within, as a stranger may spell them; all of them are answered for by the proxy.
INSIDE = ["127.0.0.7", "localhost", "169.254.169.254", "0x7f.1", "2130706433", "[::ffff:10.0.0.1]"]


def environment(server: Server) -> dict[str, str]:
    return {"http_proxy": f"http://127.0.0.9:{server.port}"}


def leading_to(server: Server, target: str, name: str) -> Site:
    return server.site(name, redirect(target), port=80)


def test_public_hosts_lead_nowhere_inside(server: Server) -> None:
    """The chain counts as a 404, and the target is never asked."""
    sites = [
        leading_to(server, f"http://{host}/secret", f"public{n}.example")
        for n, host in enumerate(INSIDE)
    ]
    result = crawl([site.url("/no") for site in sites], SETTINGS, env=environment(server))
    assert result.ended_once(site.url("/no") for site in sites)
    assert [site.pages_asked for site in sites] == [["/no"]] * len(sites)
    assert {asked.host for asked in server.log} == {site.host for site in sites}


def test_the_way_over_another_public_host_is_no_way(server: Server) -> None:
    """Each hop is looked at, not the first one only."""
    middle = server.site("middle.example", "", port=80, pages={"/x": redirect("http://127.1/y")})
    first = leading_to(server, middle.url("/x"), "first.example")
    crawl([first.url("/no")], SETTINGS, env=environment(server))
    assert {asked.host for asked in server.log} == {"first.example", "middle.example"}


@pytest.mark.parametrize(
    ("name", "settings"), [("public.example", {}), ("10.0.0.1", SETTINGS)], ids=["off", "inside"]
)
def test_otherwise_they_are_followed(server: Server, name: str, settings: dict[str, bool]) -> None:
    """By default, and from one private host to another: crawls of one's own network."""
    target = server.site("127.0.0.7", BODY, port=80)
    first = leading_to(server, target.url("/robots.txt"), name)
    result = crawl([first.url("/no")], settings, env=environment(server))
    assert len(target.robots_asked) == 1
    assert result.errors[first.url("/no")]["type"] == "ForbiddenByRobots"


def test_pages_are_not_concerned(server: Server) -> None:
    """Where a page leads is the crawl's own business."""
    page = server.site("public.example", BODY, port=80, page=redirect("http://127.0.0.7/p"))
    inside = server.site("127.0.0.7", BODY, port=80)
    crawl([page.url("/yes")], SETTINGS, env=environment(server))
    assert inside.pages_asked == ["/p"]
