"""Overrides of single hosts; the most specific key wins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import NO_POLICY, StatusPolicy
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.policy import AccessPolicy

Replacement = Literal["ignore", "disallow"] | RobotsTxt

#: Origins whose override is kept.
_MAX_FOUND = 10_000

#: Characters that would make a key more than a host and a port.
_NOT_IN_KEYS = frozenset("/@?#*\\ ")
_WANTED = (
    "a host ('example.com'), a host with its port ('example.com:8080') or all subdomains of a host "
    "('*.example.com')"
)


class HostTable(dict[str, "Override"]):
    """Overrides by ``host``, ``host:port`` or ``*.domain`` (subdomains only).

    Where several keys fit an origin, the port decides, then the host, then the longest domain.
    Keys must be as :func:`host_key` returns them. Nothing changes after the first :meth:`find`.
    """

    def __init__(self, overrides: Mapping[str, Override]) -> None:
        super().__init__(overrides)
        # hot path
        self.find = lru_cache(_MAX_FOUND)(self._find)

    def _find(self, origin: Origin) -> Override | None:
        """The override of *origin*; None for none."""
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
    host = name.removeprefix("*.") if isinstance(name, str) else ""
    is_odd = host.startswith(".") or host.endswith(":") or _NOT_IN_KEYS.intersection(host)
    origin = None if is_odd else Origin.of(f"http://{host}/")
    has_port = ":" in host.rpartition("]")[2]
    if origin is None or (host != name and (has_port or origin.is_address)):
        raise ValueError(f"{_WANTED}, not {name!r}")
    key = f"{origin.host}:{origin.port}" if has_port else origin.host
    return key if host == name else f"*.{key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Values that hold for one host.

    Either ``replacement`` is given, and nothing is fetched, or some of the other fields, each
    instead of the setting or rule of its kind.
    """

    replacement: Replacement | None = None
    """``"ignore"``: crawl all; ``"disallow"``: crawl nothing; else these rules hold."""
    status_policy: StatusPolicy = field(default_factory=lambda: NO_POLICY)
    token: tuple[str, ...] | None = None
    crawl_delay: float | None = None
    """Seconds."""
    extensions: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """Cache for values derived from the replacement."""

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
        names = ("status_policy", "token", "crawl_delay")
        return tuple(name for name in names if getattr(self, name) not in (None, NO_POLICY))
