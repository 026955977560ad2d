"""HostTable: values for hosts, where the most specific key wins."""

from __future__ import annotations

from typing import TypeVar

from scrapy_robotspec.access.origin import Origin

_T = TypeVar("_T")

_WANTED = (
    "a host ('example.com'), a host with its port ('example.com:8080') or all subdomains of a host "
    "('*.example.com')"
)


class HostTable(dict[str, _T]):
    """Values by ``host``, ``host:port`` or ``*.domain`` (subdomains only).

    Where several keys fit an origin, the port decides, then the host, then the longest domain.
    Keys must be as :func:`host_key` returns them.
    """

    def find(self, origin: Origin) -> _T | None:
        """The value for *origin*; None for none."""
        host = origin.host
        keys = [f"{host}:{origin.port}", host]
        _, dot, domain = host.partition(".")
        while dot:
            keys.append(f"*.{domain}")
            _, dot, domain = domain.partition(".")
        return next((self[key] for key in keys if key in self), None)


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
