"""Routes: which way to an origin is tried next, and which proxies work."""

from __future__ import annotations

from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.fetching.routes import PROVEN_FOR, Route, Routes

ORIGIN, B = Origin("http", "a.example", 80), Origin("http", "b.example", 80)
NOW = 1_000_000.0


def through(proxy: str | None) -> Request:
    """A page request through *proxy*."""
    return Request("http://a.example/", meta={"proxy": proxy} if proxy else {})


def routes_of(*proxies: str | None) -> tuple[Routes, list[Route]]:
    """Routes that have seen one request through each of *proxies*."""
    live = LiveOrigins()
    live.use(ORIGIN)
    routes = Routes(("proxy", "bindaddress"), live)
    return routes, [routes.see(ORIGIN, through(proxy)) for proxy in proxies]


def test_credentials_go_with_their_proxy_alone() -> None:
    """A direct request would show them to the site."""
    headers, meta = {"Proxy-Authorization": "Basic eDp5"}, {"_auth_proxy": "http://p1"}
    request = Request("http://a.example/", headers=headers, meta=meta)
    live = LiveOrigins()
    live.use(ORIGIN)
    assert Routes(("proxy",), live).see(ORIGIN, request) == Route((), None)
    request.meta["proxy"] = "http://p1"
    assert Routes(("bindaddress",), live).see(ORIGIN, request) == Route((), None)
    assert Routes(("proxy",), live).see(ORIGIN, request) == Route(
        (("proxy", "http://p1"), ("_auth_proxy", "http://p1")), b"Basic eDp5"
    )


def test_a_failed_route_comes_last() -> None:
    routes, (first, second, third) = routes_of("http://p1", "http://p2", None)
    assert routes.best(ORIGIN, second) == second
    first.failures += 1
    assert routes.best(ORIGIN, first) == second
    second.failures += 1
    assert routes.best(ORIGIN, first) == third
    assert routes.see(ORIGIN, through("http://p1")).failures == 1
    third.failures += 1
    assert routes.best(ORIGIN, second) == second


def test_a_usable_response_ends_the_memory_of_failures() -> None:
    routes, (first, _) = routes_of("http://p1", "http://p2")
    first.failures += 1
    assert routes.has_failed(ORIGIN)
    routes.forget(ORIGIN)
    assert routes.see(ORIGIN, through("http://p1")).failures == 0
    assert not routes.has_failed(ORIGIN)


def test_no_more_routes_than_a_bound_are_remembered() -> None:
    live = LiveOrigins()
    routes, origin = Routes(("proxy",), live), live.use(ORIGIN)
    for n in range(100):
        routes.see(ORIGIN, through(f"http://p{n}"))
    assert len(origin.routes) == 32


def test_no_more_proxies_than_a_bound_are_known_to_work() -> None:
    """Those that have responded last."""
    routes = Routes(("proxy",), LiveOrigins())
    for number in range(3_000):
        routes.worked(f"http://p{number}", ORIGIN, NOW)
        routes.worked("http://p0", ORIGIN, NOW)
    proven = [number for number in range(3_000) if routes.is_proven(f"http://p{number}", NOW)]
    assert proven == [0, *range(2_001, 3_000)]


def test_names_are_resolved_once_a_host_with_a_name_has_responded() -> None:
    routes = Routes((), LiveOrigins())
    for host in ("127.0.0.1", "localhost", "app.localhost"):  # these need no name server
        routes.worked(None, Origin("http", host, 80), NOW)
    assert not routes.resolves_names(NOW)
    routes.worked(None, B, NOW)
    assert routes.resolves_names(NOW)
    assert not routes.resolves_names(NOW + PROVEN_FOR + 1)


def test_a_proxy_is_proven_for_a_time_once_it_has_worked() -> None:
    routes = Routes((), LiveOrigins())
    routes.worked("http://p2", B, NOW)
    assert not routes.is_proven("http://p1", NOW)
    routes.worked("http://p1", B, NOW)
    assert routes.is_proven("http://p1", NOW)
    assert not routes.is_proven("http://p1", NOW + PROVEN_FOR + 1)
