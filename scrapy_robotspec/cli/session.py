"""The session of a command: terminal, defaults, clock, access to sites."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

from scrapy_robotspec.render.terminal import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.site import SiteAnswer

#: A crawler's product tokens; none stand for a crawler that no group names.
Crawler = tuple[str, ...]

ALLOWED, DISALLOWED, MISUSE, UNREACHABLE = 0, 1, 2, 3


class SiteOptions(NamedTuple):
    """Options for querying sites."""

    tokens: Crawler | None = None
    """None: the tokens of the project; without a project those of no crawler."""
    edition: str | None = None
    """None: the edition of the project, or the default one."""
    timeout: float = 10.0
    """Max time for one robots.txt with its redirects (seconds)."""
    one_by_one: bool = False
    """Whether each answer comes before the next query."""
    fresh: bool = False
    """Whether the store is not used, so that the site itself answers."""


class QuerySites(Protocol):
    """Decides about URLs by the robots.txt of their sites."""

    def __call__(
        self, urls: Sequence[str], options: SiteOptions, handle: Callable[[SiteAnswer], None]
    ) -> None:
        """Pass one answer per URL to ``handle``, in order.

        A process can do this once, because a reactor cannot be restarted. Raises
        ``ConfigurationError`` for wrong settings.
        """


class LoadQuerySites(Protocol):
    """Imports what :class:`QuerySites` needs, only once a site is queried."""

    def __call__(self) -> QuerySites: ...


class Session(NamedTuple):
    """One call of the command line."""

    screen: Screen
    default_edition: str | Edition = "google-2019"
    load_query: LoadQuerySites | None = None
    """None: sites cannot be queried."""
    default_tokens: Crawler = ()
    cache: str | None = None
    """The store of the project, a URI; None without a project."""
    now: float = 0.0
    """Epoch seconds."""

    def edition(self, name: str | None) -> Edition:
        """The edition of that name; None for the default one."""
        from scrapy_robotspec.editions import get_edition  # --help needs none

        return get_edition(self.default_edition if name is None else name)

    def with_screen(self, color: bool | None, quiet: bool) -> Session:
        """The same session with another screen."""
        return self._replace(screen=open_screen(color, quiet))


def open_screen(color: bool | None = None, quiet: bool = False) -> Screen:
    """The terminal of this process."""
    return Screen(sys.stdout, sys.stderr, os.environ, color=color, quiet=quiet)
