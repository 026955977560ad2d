"""Overrides of single hosts; the most specific key wins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import NO_POLICY, StatusPolicy
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.policy import AccessPolicy

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
    if domain != name:
        if has_port or origin.is_address:
            raise ValueError(f"{_WANTED}, not {name!r}: a domain has neither port nor address")
        return f"*.{origin.host}"
    if has_port and not bracketed.rpartition(":")[2].isdecimal():
        raise ValueError(f"{_WANTED}, not {name!r}")
    return f"{origin.host}:{origin.port}" if has_port else origin.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Values that hold for one host.

    Either ``replacement`` is given, and nothing is fetched, or some of the other fields, each
    instead of the setting or rule of its kind.
    """

    replacement: Literal["ignore", "disallow"] | RobotsTxt | None = None
    """``"ignore"``: crawl all; ``"disallow"``: crawl nothing; else these rules hold."""
    status_policy: StatusPolicy = field(default_factory=lambda: NO_POLICY)
    token: tuple[str, ...] | None = None
    crawl_delay: float | None = None
    """Seconds."""

    def adjust(self, policy: AccessPolicy) -> AccessPolicy:
        """*policy* with the statuses that mean something else on this host."""
        if not self.status_policy:
            return policy
        own = self.status_policy
        others = {  # a class of the host wins over a status of the project
            key: meaning
            for key, meaning in policy.status_policy.items()
            if not isinstance(key, int) or f"{key // 100}xx" not in own
        }
        return replace(policy, status_policy={**others, **own})

    @property
    def kinds(self) -> tuple[str, ...]:
        """The last parts of the stats that count its uses, ``robotspec/override/KIND``."""
        if isinstance(self.replacement, RobotsTxt):
            return ("robots_txt",)
        if self.replacement is not None:
            return (self.replacement,)
        given = {
            "status_policy": bool(self.status_policy),
            "token": self.token is not None,
            "crawl_delay": self.crawl_delay is not None,
        }
        return tuple(kind for kind, is_given in given.items() if is_given)
