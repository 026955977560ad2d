"""Routes: which way to an origin is tried next, and whose failure it is."""

from __future__ import annotations

import errno

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from twisted.internet.error import ConnectBindError, DNSLookupError
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.fetching.failures import is_local
from scrapy_robotspec.plugin.fetching.routes import PROVEN_FOR, Route, Routes

ORIGIN, B = Origin("http", "a.example", 80), Origin("http", "b.example", 80)
NOW = 1_000_000.0
DIRECT = Route((), None)


def through(proxy: str | None) -> Request:
    """A page request through *proxy*."""
    return Request("http://a.example/", meta={"proxy": proxy} if proxy else {})


def routes_of(*proxies: str | None) -> tuple[Routes, list[Route]]:
    """Routes that have seen one request through each of *proxies*."""
    live = LiveOrigins()
    live.use(ORIGIN)
    routes = Routes(("proxy", "bindaddress"), live)
    return routes, [routes.see(ORIGIN, through(proxy)) for proxy in proxies]


def test_the_own_route_comes_first() -> None:
    routes, (first, second) = routes_of("http://p1", "http://p2")
    assert routes.best(ORIGIN, second) == second
    assert routes.best(ORIGIN, first) == first


def test_a_failed_route_comes_last() -> None:
    routes, (first, second, third) = routes_of("http://p1", "http://p2", None)
    routes.failed(ORIGIN, first)
    assert routes.best(ORIGIN, first) == second
    routes.failed(ORIGIN, second)
    assert routes.best(ORIGIN, first) == third
    routes.failed(ORIGIN, third)
    assert routes.best(ORIGIN, second) == second


def test_a_usable_response_ends_the_memory_of_failures() -> None:
    routes, (first, _) = routes_of("http://p1", "http://p2")
    routes.failed(ORIGIN, first)
    routes.forget(ORIGIN)
    assert routes.best(ORIGIN, first) == first
    assert not routes.has_failed(ORIGIN)


def test_routes_of_live_origins_alone_are_remembered_and_no_more_than_a_bound() -> None:
    live = LiveOrigins()
    routes, origin = Routes(("proxy",), live), live.use(ORIGIN)
    for n in range(100):
        routes.see(ORIGIN, through(f"http://p{n}"))
        routes.see(Origin("http", f"h{n}.example", 80), through("http://p"))
        routes.failed(Origin("http", f"h{n}.example", 80), DIRECT)
    assert len(live) == 1
    assert len(origin.routes) == 32


@pytest.mark.parametrize("number", [errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EMFILE])
def test_errors_of_this_machine_are_local(number: int) -> None:
    """Also behind another exception, as download handlers raise them."""
    outer = RuntimeError("connection failed")
    outer.__cause__ = OSError(number, "")
    failed = ResponseFailed([Failure(OSError(number, ""))])  # type: ignore[no-untyped-call]
    bind: Exception = ConnectBindError("full")  # type: ignore[no-untyped-call]
    for error in (OSError(number, ""), outer, failed, bind):
        assert is_local(error, None, Routes((), LiveOrigins()), NOW)


def test_an_origin_that_refuses_or_breaks_off_is_not_local() -> None:
    for error in (OSError(errno.ECONNREFUSED, ""), OSError(errno.ECONNRESET, ""), ValueError("x")):
        assert not is_local(error, None, Routes((), LiveOrigins()), NOW)


def test_a_request_dropped_by_a_middleware_is_local() -> None:
    assert is_local(IgnoreRequest("no"), None, Routes((), LiveOrigins()), NOW)


def test_an_unknown_name_is_local_until_another_name_was_resolved() -> None:
    routes = Routes((), LiveOrigins())
    assert is_local(DNSLookupError("x"), None, routes, NOW)
    routes.worked(None, Origin("http", "127.0.0.1", 80), NOW)  # needs no name server
    assert is_local(DNSLookupError("x"), None, routes, NOW)
    routes.worked(None, B, NOW)
    assert not is_local(DNSLookupError("x"), None, routes, NOW)
    assert is_local(DNSLookupError("x"), None, routes, NOW + PROVEN_FOR + 1)


def test_a_failure_behind_a_proxy_is_local_until_the_proxy_has_worked() -> None:
    routes, error = Routes((), LiveOrigins()), TimeoutError("no answer")
    routes.worked(None, B, NOW)
    routes.worked("http://p2", B, NOW)
    assert is_local(error, "http://p1", routes, NOW)
    routes.worked("http://p1", B, NOW)
    assert not is_local(error, "http://p1", routes, NOW)
    assert is_local(error, "http://p1", routes, NOW + PROVEN_FOR + 1)


def test_a_route_rotates_once_it_has_used_two_proxies() -> None:
    """Another middleware has chosen them; memory stays bounded."""
    routes = Routes(("proxy",), LiveOrigins())
    for proxy in (None, "http://p1", "http://p1"):
        routes.used(DIRECT, proxy)
    assert not routes.rotates(DIRECT)
    for n in range(2000):
        routes.used(DIRECT, f"http://p{n}")
    assert routes.rotates(DIRECT)
    for n in range(2000):
        routes.used(Route((("proxy", f"http://p{n}"),), None), "http://p")
    assert len(routes._proxies) <= 1000
