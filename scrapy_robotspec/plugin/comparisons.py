"""Comparisons of a dry run that await a robots.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.settings.tokens import Tokens
    from scrapy_robotspec.protocol.usage import Usage

#: Max comparisons that wait; further requests are not compared.
MAX_PENDING = 10_000


class Comparison(NamedTuple):
    """A request that Scrapy's own middleware has decided about."""

    request: Request
    tokens: Tokens
    allowed: bool
    """Scrapy's decision."""
    header: Usage | None = None
    """The usage preferences of the response; None before it has come."""


class PendingComparisons:
    """Comparisons by origin."""

    def __init__(self) -> None:
        self._waiting: dict[Origin, list[Comparison]] = {}
        self._number = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[Origin]:
        return iter(list(self._waiting))

    @property
    def is_full(self) -> bool:
        """Whether further ones are refused."""
        return self._number >= MAX_PENDING

    def add(self, origin: Origin, *comparisons: Comparison) -> None:
        """Let *comparisons* await the robots.txt of *origin*."""
        if comparisons:
            self._waiting.setdefault(origin, []).extend(comparisons)
            self._number += len(comparisons)

    def take(self, origin: Origin) -> list[Comparison]:
        """Remove and return what awaits the robots.txt of *origin*."""
        taken = self._waiting.pop(origin, [])
        self._number -= len(taken)
        return taken

    def note_header(self, origin: Origin, request: Request, header: Usage) -> None:
        """The page of *request* came before its robots.txt, with *header*."""
        waiting = self._waiting.get(origin, [])
        for at, each in enumerate(waiting):
            if each.request is request:
                waiting[at] = each._replace(header=header)
