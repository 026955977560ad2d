"""``ROBOTSPEC_OVERRIDES``: what holds for single hosts instead of their robots.txt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrapy_robotspec import converters
from scrapy_robotspec.access.host_table import HostTable, host_key
from scrapy_robotspec.access.policy import Override
from scrapy_robotspec.plugin.settings.composite import status_policy
from scrapy_robotspec.protocol.agents import product_tokens
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

_WANTED = (
    "a dict from host names to 'ignore', 'disallow', a robots.txt text, or a dict with "
    "'status_policy', 'token' or 'crawl_delay'"
)


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
