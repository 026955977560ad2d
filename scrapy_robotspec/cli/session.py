"""The session of a command: terminal, defaults, clock, access to sites."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.site import SiteAnswer

    _T = TypeVar("_T")
    Visit = Callable[["SiteQuery"], Awaitable[None]]

#: A crawler's product tokens; none stand for a crawler that no group names.
Crawler = tuple[str, ...]

_COLOURS = {"good": "32", "bad": "31", "note": "33", "faint": "2", "strong": "1"}
#: Work of fewer steps shows no progress.
_MIN_STEPS = 200


def wants_colour(
    stream: TextIO, environment: Mapping[str, str], choice: bool | None = None
) -> bool:
    """Whether ``stream`` gets colours.

    ``choice`` (``--color/--no-color``) comes first, then ``NO_COLOR`` and ``FORCE_COLOR``, then
    whether ``stream`` is a terminal that can show colours.
    """
    if choice is not None:
        return choice
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


class Screen:
    """Writes answers to ``out``, and notes, summaries and progress to ``err``.

    ``quiet`` leaves out notes, summaries and progress; ``color`` as in :func:`wants_colour`.
    """

    def __init__(
        self,
        out: TextIO,
        err: TextIO,
        environment: Mapping[str, str],
        *,
        color: bool | None = None,
        quiet: bool = False,
    ) -> None:
        self.out = out
        self.err = err
        self.quiet = quiet
        self.coloured = wants_colour(out, environment, color)
        self._percent = 0  # on the terminal

    def paint(self, style: str, text: str) -> str:
        """``text`` in a style: good, bad, note, faint or strong."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.coloured and text else text

    def say(self, line: str = "") -> None:
        """Write one line of the answer, which must be escaped already."""
        self.out.write(f"{line}\n")

    def sum_up(self, line: str) -> None:
        """Write the line that sums up the answer, unless quiet."""
        if not self.quiet:
            self.say(line)

    def note(self, line: str) -> None:
        """Write one line beside the answer, unless quiet."""
        if not self.quiet:
            self.fail(line)

    def fail(self, line: str) -> None:
        """Write an error, also when quiet."""
        self.clear()
        self.err.write(f"{line}\n")

    def progress(self, items: Sequence[_T], what: str) -> Iterator[_T]:
        """Yield ``items``; a terminal without the answers shows the progress."""
        if len(items) < _MIN_STEPS or self.out.isatty() or not self.err.isatty():
            yield from items
            return
        for done, item in enumerate(items):
            self.share(done, len(items), what)
            yield item
        self.clear()

    def share(self, number: int, total: int, what: str) -> None:
        """Show on a terminal how much is done; *total* 0: unknown."""
        percent = 100 * number // total if total else self._percent
        if percent != self._percent and not self.quiet and self.err.isatty():
            self._percent = percent
            self.err.write(f"\r{what}: {percent} %")
            self.err.flush()

    def clear(self) -> None:
        """Remove the progress from the terminal."""
        if self._percent:
            self._percent = 0
            self.err.write("\r\x1b[K")
            self.err.flush()


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


class SiteQuery(Protocol):
    """A running query, for a visit of sites."""

    async def decide(self, urls: Sequence[str]) -> None:
        """Pass one answer per URL to the handler, in order."""

    async def download(self, url: str, max_bytes: int) -> bytes:
        """The body of a page that robots.txt allows. Raises ``RobotSpecError``."""


class QuerySites(Protocol):
    """Decides about URLs by the robots.txt of their sites."""

    def __call__(
        self,
        urls: Sequence[str],
        options: SiteOptions,
        handle: Callable[[SiteAnswer], None],
        visit: Visit | None = None,
    ) -> None:
        """Pass one answer per URL to ``handle``, in order; then ``visit`` sites.

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
