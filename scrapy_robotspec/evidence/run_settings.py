"""RunSettings: the settings that decisions depend on, as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.host_table import HostTable
from scrapy_robotspec.access.outcome import Meaning, StatusPolicy
from scrapy_robotspec.access.policy import AccessPolicy, Override
from scrapy_robotspec.access.redirects import RedirectLimits
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.evidence.log_lines import EvidenceError, are_texts, is_time
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin

#: Plain values of the access policy.
_POLICY_FIELDS = {
    field.name: field.default
    for field in fields(AccessPolicy)
    if field.name not in ("edition", "status_policy")
}
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
    overrides: HostTable[Override]
    tokens: tuple[str, ...] | None = None
    """The crawl's product tokens where they are the same for each request."""

    def policy_of(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*, the user's override included."""
        override = self.overrides.find(origin) if self.overrides else None
        return self.policy if override is None else override.adjust(self.policy)

    def to_json(self) -> dict[str, Any]:
        """Values that JSON can hold; :meth:`from_json` reads them."""
        policy = {name: getattr(self.policy, name) for name in _POLICY_FIELDS}
        table = zip(self.overrides.keys(), self.overrides.values(), strict=True)
        return {
            "edition": _edition_to_json(self.policy.edition),
            "policy": {**policy, "status_policy": _meanings_to_json(self.policy.status_policy)},
            "redirects": {
                "max_redirects": self.redirects.max_redirects,
                "refuse_private": self.redirects.refuse_private,
                "recognises_loops": self.redirects.recognises_loops,
            },
            "max_size": self.max_size,
            "usage": {"labels": list(self.usage.labels), "policy": self.usage.name},
            "overrides": {key: _override_to_json(override) for key, override in table},
            "tokens": None if self.tokens is None else list(self.tokens),
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> RunSettings:
        """Read :meth:`to_json`. Raises one of ``DAMAGE`` for anything else (SAF-05)."""
        edition = get_edition(given["edition"])
        policy = {
            name: _like(default, given["policy"][name], name)
            for name, default in _POLICY_FIELDS.items()
        }
        limits, usage, tokens = given["redirects"], given["usage"], given["tokens"]
        overrides = {
            key: _override_from_json(each, edition) for key, each in given["overrides"].items()
        }
        max_size = _like(0, given["max_size"], "max_size")
        if max_size > _MAX_SIZE:
            raise EvidenceError(f"max_size is above {_MAX_SIZE}")
        return cls(
            policy=AccessPolicy(
                edition=edition,
                status_policy=_meanings_from_json(given["policy"]["status_policy"]),
                **policy,
            ),
            redirects=RedirectLimits(
                max_redirects=_like(0, limits["max_redirects"], "max_redirects"),
                refuse_private=_like(False, limits["refuse_private"], "refuse_private"),
                recognises_loops=_like(False, limits["recognises_loops"], "recognises_loops"),
            ),
            max_size=max_size,
            usage=UsagePolicy(_texts(usage["labels"]), usage["policy"]),
            overrides=HostTable(overrides),
            tokens=None if tokens is None else _texts(tokens),
        )


def _like(default: Any, value: Any, name: str) -> Any:
    """*value*, if it has the type of *default*."""
    kinds = (int, float) if type(default) is float else (type(default),)
    is_number = type(default) in (int, float)
    if type(value) not in kinds or (is_number and not is_time(value)):
        raise EvidenceError(f"{name} has a wrong value")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not are_texts(value):
        raise EvidenceError("a list of texts has a wrong value")
    return tuple(value)


def _edition_to_json(edition: Edition) -> dict[str, Any]:
    """Every field, so that a preset that changes in a later release changes no replay."""
    return {field.name: _plain(getattr(edition, field.name)) for field in fields(edition)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.decode("ascii")
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return "inf" if value == math.inf else value


def _meanings_to_json(meanings: StatusPolicy) -> dict[str, str]:
    return {str(status): meaning.value for status, meaning in meanings.items()}


def _meanings_from_json(given: Mapping[str, str]) -> dict[int | str, Meaning]:
    return {
        int(status) if status.isdecimal() else status: Meaning(meaning)
        for status, meaning in given.items()
    }


def _override_to_json(override: Override) -> dict[str, Any]:
    replacement = override.replacement
    if isinstance(replacement, RobotsTxt):
        return {"robots_txt": replacement.body.decode("utf-8", "surrogateescape")}
    return {
        "replacement": replacement,
        "status_policy": _meanings_to_json(override.status_policy),
        "token": None if override.token is None else list(override.token),
        "crawl_delay": override.crawl_delay,
    }


def _override_from_json(given: Mapping[str, Any], edition: Edition) -> Override:
    if "robots_txt" in given:
        body = _like("", given["robots_txt"], "robots_txt").encode("utf-8", "surrogateescape")
        return Override(replacement=RobotsTxt.parse(body, edition))
    return Override(
        replacement=given["replacement"],
        status_policy=_meanings_from_json(given["status_policy"]),
        token=None if given["token"] is None else _texts(given["token"]),
        crawl_delay=given["crawl_delay"],
    )
