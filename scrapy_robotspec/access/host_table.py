"""HostTable: values for hosts, where the most specific key wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_robotspec.access.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")

_WANTED = (
    "a host ('example.com'), a host with its port ('example.com:8080') or all subdomains of a host "
    "('*.example.com')"
)


class HostTable(Generic[_T]):
    """Values by ``host``, ``host:port`` or ``*.domain`` (subdomains only).

    Where several keys fit an origin, the port decides, then the host, then the longest domain.
    Keys must be as :func:`host_key` returns them.
    """

    def __init__(self, values: Mapping[str, _T] | None = None) -> None:
        self._values = dict(values or {})
        self._has_domains = any(key.startswith("*.") for key in self._values)

    def find(self, origin: Origin) -> _T | None:
        """The value for *origin*; None for none."""
        for key in self._keys(origin):
            if key in self._values:
                return self._values[key]
        return None

    def keys(self) -> tuple[str, ...]:
        """All keys, in the order given."""
        return tuple(self._values)

    def values(self) -> tuple[_T, ...]:
        """All values, in the order of their keys."""
        return tuple(self._values.values())

    def _keys(self, origin: Origin) -> list[str]:
        """The keys that fit *origin*, the most specific first."""
        host = origin.host
        keys = [f"{host}:{origin.port}", host]
        if self._has_domains:
            _, dot, domain = host.partition(".")
            while dot:
                keys.append(f"*.{domain}")
                _, dot, domain = domain.partition(".")
        return keys

    def __bool__(self) -> bool:
        return bool(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostTable) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]  # values may be mutable

    def __repr__(self) -> str:
        return f"HostTable({self._values!r})"


def host_key(name: object) -> str:
    """*name* in the form that origins are compared in (LOC-05, LOC-10).

    Raises ``ValueError`` for anything but a host, ``host:port`` and ``*.domain``.
    """
    if not isinstance(name, str) or not name or any(c in name for c in "/@?# \\"):
        raise ValueError(f"{_WANTED}, not {name!r}")
    domain = name.removeprefix("*.")
    bracketed = f"[{domain}]" if domain.count(":") > 1 and "[" not in domain else domain
    origin = None if "*" in domain or domain.startswith(".") else Origin.of(f"http://{bracketed}/")
    if origin is None:
        raise ValueError(f"{_WANTED}, not {name!r}")
    has_port = ":" in bracketed.rpartition("]")[2]
    is_address = ":" in origin.host or origin.host.rpartition(".")[2].isdecimal()
    if domain != name:
        if has_port or is_address:
            raise ValueError(f"{_WANTED}, not {name!r}: a domain has neither port nor address")
        return f"*.{origin.host}"
    if has_port and not bracketed.rpartition(":")[2].isdecimal():
        raise ValueError(f"{_WANTED}, not {name!r}")
    return f"{origin.host}:{origin.port}" if has_port else origin.host
