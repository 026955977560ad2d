"""Override: the user's decision for one host."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.access.outcome import NO_POLICY, StatusPolicy
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.policy import AccessPolicy


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
