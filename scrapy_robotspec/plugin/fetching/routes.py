"""Routes: proxy and local address of requests to an origin.

A request's own proxy may be dead while the origin is healthy. So the routes of the requests that
wait for an origin are remembered, a failed one is tried last, and a failure by a proxy that has
never worked says nothing about the origin. Other middlewares may choose the proxy of each request:
then a route has many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.live_origins import LiveOrigins

#: A proxy that brought a response is known to work for this long (seconds).
PROVEN_FOR = 300.0
#: Max routes of an origin that are remembered.
_MAX_ROUTES = 32
#: Max proxies that are known to work.
_MAX_PROVEN = 1000

#: Where ``HttpProxyMiddleware`` keeps the credentials that it took out of a proxy's URL.
_PROXY_CREDENTIALS = "_auth_proxy"
_PROXY_HEADER = b"Proxy-Authorization"


@dataclass(slots=True)
class Route:
    """Proxy and other meta of a page request."""

    meta: tuple[tuple[str, Any], ...]
    """Keys of ``ROBOTSPEC_INHERIT_META`` with their values."""
    proxy_authorization: bytes | None
    """The header with the credentials of the proxy."""
    failures: int = 0
    """Since the last usable response of the origin."""

    @property
    def name(self) -> str:
        """A hashable name, because meta values may be of any type."""
        return repr(self.meta)


class Routes:
    """Routes of *live* origins, made of the meta keys *keys*."""

    def __init__(self, keys: Sequence[str], live: LiveOrigins) -> None:
        self._keys = keys
        self._live = live
        self._proven: dict[str, float] = {}
        self._name_resolved_at: float | None = None

    def see(self, origin: Origin, request: Request) -> Route:
        """Remember the route of *request*, which waits for the robots.txt of *origin*."""
        meta, known = request.meta, self._live[origin].routes
        found = [(key, meta[key]) for key in self._keys if key in meta]
        credentials = None
        if "proxy" in self._keys and "proxy" in meta and _PROXY_CREDENTIALS in meta:
            found.append((_PROXY_CREDENTIALS, meta[_PROXY_CREDENTIALS]))
            credentials = request.headers.get(_PROXY_HEADER)
        new = Route(tuple(found), credentials)
        route: Route = known.get(new.name, new)
        if len(known) < _MAX_ROUTES:
            known[new.name] = route
        return route

    def best(self, origin: Origin, own: Route) -> Route:
        """The route with the fewest failures; of equal ones *own*."""
        routes: list[Route] = [own, *self._live[origin].routes.values()]
        return min(routes, key=lambda route: route.failures)

    def has_failed(self, origin: Origin) -> bool:
        """Whether a fetch of *origin* failed since its last usable response."""
        return any(route.failures for route in self._live[origin].routes.values())

    def worked(self, proxy: str | None, origin: Origin, now: float) -> None:
        """*origin* responded through *proxy*, or directly, at *now* (epoch seconds)."""
        if proxy is not None:
            self._proven.pop(proxy, None)
            if len(self._proven) >= _MAX_PROVEN:
                del self._proven[next(iter(self._proven))]
            self._proven[proxy] = now
        if not (origin.is_address or origin.host.endswith("localhost")):
            self._name_resolved_at = now

    def forget(self, origin: Origin) -> None:
        """Forget the routes to *origin*, whose robots.txt is known, and their failures."""
        self._live[origin].routes.clear()

    def is_proven(self, proxy: str, now: float) -> bool:
        """Whether any origin responded through *proxy* in the last minutes."""
        return _is_recent(self._proven.get(proxy), now)

    def resolves_names(self, now: float) -> bool:
        """Whether the name of any host was resolved in the last minutes."""
        return _is_recent(self._name_resolved_at, now)


def _is_recent(then: float | None, now: float) -> bool:
    return then is not None and now - PROVEN_FOR <= then <= now
