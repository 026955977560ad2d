"""RunSettings: the settings that decisions depend on, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.exchange import RedirectLimits
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.overrides import HostTable, Override
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.evidence.log_lines import EvidenceError, Members, is_time
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin

#: Max parsing limit that is read (bytes): the largest body that a store keeps (SAF-05).
_MAX_SIZE = 2**26


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Everything but robots.txt, URL, tokens and time that decides about a request."""

    policy: AccessPolicy
    redirects: RedirectLimits
    max_size: int
    """Parsing limit in bytes (FMT-12)."""
    usage: UsagePolicy
    overrides: HostTable

    def policy_of(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*, the user's override included."""
        override = self.overrides.find(origin)
        return self.policy if override is None else override.adjust(self.policy)

    def to_json(self) -> dict[str, Any]:
        """Values that JSON can hold; :meth:`from_json` reads them.

        Every field, so that a preset that changes in a later release changes no replay.
        """
        text = json.dumps(self, default=_plain)
        values: dict[str, Any] = json.loads(text, parse_constant=lambda _: "inf")
        return values

    @classmethod
    def from_json(cls, given: Members) -> RunSettings:
        """Read :meth:`to_json`. Raises one of ``DAMAGE`` for anything else (SAF-05)."""
        policy, usage = dict(given["policy"]), given["usage"]
        edition = get_edition(policy.pop("edition"))
        meanings, unreachable = _meanings(policy.pop("status_policy")), policy.pop("unreachable")
        if not all(map(is_time, policy.values())):
            raise EvidenceError("a number of the policy has a wrong value")
        if not (is_time(given["max_size"]) and given["max_size"] <= _MAX_SIZE):
            raise EvidenceError(f"max_size is not a number up to {_MAX_SIZE}")
        overrides = {key: _override(each, edition) for key, each in given["overrides"].items()}
        return cls(
            policy=AccessPolicy(
                edition=edition, status_policy=meanings, unreachable=unreachable, **policy
            ),
            redirects=RedirectLimits(**given["redirects"]),
            max_size=given["max_size"],
            usage=UsagePolicy(tuple(usage["labels"]), usage["name"]),
            overrides=HostTable(overrides),
        )


def _plain(value: Any) -> Any:
    """*value* as something that JSON can hold."""
    if isinstance(value, RobotsTxt):
        return value.body.decode("utf-8", "surrogateescape")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.decode("ascii")
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return dict(value)  # a mapping; to ask about Mapping would fill the caches of its subclasses


def _meanings(given: Mapping[str, str]) -> dict[int | str, Meaning]:
    return {
        int(status) if status.isdecimal() else status: Meaning(meaning)
        for status, meaning in given.items()
    }


def _override(given: Members, edition: Edition) -> Override:
    replacement = given["replacement"]
    if replacement not in (None, "ignore", "disallow"):
        replacement = RobotsTxt.parse(replacement.encode("utf-8", "surrogateescape"), edition)
    return Override(
        replacement=replacement,
        status_policy=_meanings(given["status_policy"]),
        token=given["token"] and tuple(given["token"]),
        crawl_delay=given["crawl_delay"],
    )
