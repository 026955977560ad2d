"""``ROBOTSPEC_OVERRIDES``: what holds for single hosts instead of their robots.txt."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import attrs

from scrapy_robotspec import converters
from scrapy_robotspec.plugin.settings.composite import status_policy
from scrapy_robotspec.plugin.settings.host_table import HostTable, host_key
from scrapy_robotspec.plugin.settings.product_tokens import product_tokens
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import Meaning
    from scrapy_robotspec.editions import Edition

_WANTED = (
    "a dict from host names to 'ignore', 'disallow', a robots.txt text, or a dict with "
    "'status_policy', 'token' or 'crawl_delay'"
)


@attrs.frozen(kw_only=True)
class Override:
    """What holds for one host.

    Either ``replacement`` is given, and nothing is fetched, or some of the other fields, each
    instead of the setting or rule of its kind.
    """

    replacement: Literal["ignore", "disallow"] | RobotsTxt | None = None
    """``"ignore"``: crawl all; ``"disallow"``: crawl nothing; else these rules hold."""
    status_policy: Mapping[int, Meaning] = MappingProxyType({})
    token: tuple[str, ...] | None = None
    crawl_delay: float | None = None
    """Seconds."""

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


def overrides(raw: Any, edition: Edition) -> HostTable[Override]:
    """Read ``ROBOTSPEC_OVERRIDES``; raises ``ValueError`` for a wrong key or value."""
    read: dict[str, Override] = {}
    for name, value in converters.mapping(raw, _WANTED).items():
        key = host_key(name)
        if key in read:
            raise ValueError(f"each key once: {name!r} means the same as another one")
        read[key] = _override(name, value, edition)
    return HostTable(read)


def _override(host: str, value: Any, edition: Edition) -> Override:
    if isinstance(value, Mapping):
        return _changes(host, value, edition)
    if value == "ignore" or value == "disallow":
        return Override(replacement=value)
    if isinstance(value, str) and ("\n" in value or ":" in value):
        robots = RobotsTxt.parse(value.encode("utf-8", "replace"), edition)
        return Override(replacement=robots)
    raise ValueError(f"for {host!r} 'ignore', 'disallow', a robots.txt text, or a dict")


def _changes(host: str, value: Mapping[Any, Any], edition: Edition) -> Override:
    read: dict[str, converters.Converter[Any]] = {
        "status_policy": status_policy,
        "token": lambda raw: product_tokens(raw, edition),
        "crawl_delay": converters.seconds(),
    }
    if not value or set(value) - set(read):
        raise ValueError(f"for {host!r} a dict with some of {', '.join(map(repr, read))}")
    name = ""
    try:
        return Override(**{(name := each): read[each](raw) for each, raw in value.items()})
    except ValueError as error:
        raise ValueError(f"for {host!r} as {name!r} {error}") from None
