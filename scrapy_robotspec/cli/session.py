"""The session of a command: exit codes, errors, terminal, defaults, sites."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click
from click.exceptions import NoArgsIsHelpError

from scrapy_robotspec._version import __version__
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import Tokens

    QueryTask = Callable[["Query"], Awaitable[None]]
    #: Runs a task; each answer is passed to the function, in order. A process can do this once,
    #: because a reactor cannot be restarted. Raises ``ConfigurationError`` for wrong settings.
    QuerySites = Callable[[QueryTask, "SiteOptions", Callable[[Explanation], None]], None]

#: All allowed, no finding, no difference.
GOOD = 0
#: Something is disallowed, found or different.
FOUND = 1
#: The command line is wrong; the message contains the remedy.
MISUSE = 2
#: A robots.txt is unreachable.
UNREACHABLE = 3
#: An error of this tool, as ``sysexits.h`` has it.
BROKEN = 70
#: Ctrl-C, as shells have it.
INTERRUPTED = 130
#: The reader of the answers has gone away, as shells have it.
UNREAD = 141

#: Max problems that a command names.
MOST = 20


#: The option of the program and of each command.
version_option = click.version_option(
    __version__, "-V", "--version", message="robotspec %(version)s"
)


class MisuseError(click.UsageError):
    """A wrong command line; the message contains the remedy."""


class SiteError(MisuseError):
    """A site that the command line needs is unreachable."""

    exit_code = UNREACHABLE


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a misspelled one most likely means, or None."""
    from difflib import get_close_matches  # few command lines need it

    return next(iter(get_close_matches(word, known, 1)), None)


def show_error(error: click.ClickException) -> int:
    """Write an error to stderr and return its exit code."""
    message = error.format_message()
    if not isinstance(error, NoArgsIsHelpError):
        ctx: click.Context | None = getattr(error, "ctx", None)
        name = ctx.command_path if ctx is not None else "robotspec"
        message = f"{name}: {safe(message, None)}"
        if not isinstance(error, MisuseError):  # of an option or argument
            message += f"\nTry '{name} --help'."
    complain(message)
    return error.exit_code


def complain(message: str) -> None:
    """Write to stderr, if it can be written."""
    with suppress(OSError):
        sys.stderr.write(f"{message}\n")


class Query(Protocol):
    """Access of a task to sites."""

    async def decide(self, urls: Sequence[str]) -> None:
        """Decide about URLs; the function of the task receives the answers."""

    async def download(self, url: str, max_bytes: int, named_by: str = "") -> bytes:
        """The body of a page that robots.txt allows. Raises ``RobotSpecError``.

        *named_by*: the URL of the file that names it; a private address is refused as in redirects.
        """


class Screen:
    """Writes answers to standard output, the rest to standard error.

    ``quiet`` leaves out notes, summaries and progress.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.code = 0
        """Exit code of the worst error that did not end the command."""
        self._percent = 0  # on the terminal

    def say(self, *lines: str) -> None:
        """Write lines of the answer, which must be escaped already."""
        self.clear()
        sys.stdout.writelines(f"{line}\n" for line in lines)

    def say_json(self, values: Iterable[Any]) -> None:
        """Write objects of the answer, each as it comes."""
        from scrapy_robotspec.render.as_json import dumps  # most answers are text

        self.clear()
        sys.stdout.writelines(f"{dumps(value)}\n" for value in values)

    def note(self, line: str) -> None:
        """Write one line beside or after the answer, unless quiet."""
        if not self.quiet:
            self.fail(line)

    def fail(self, line: str, code: int = 0) -> None:
        """Write an error, also when quiet.

        *code*: the exit code that it leads to.
        """
        self.code = max(self.code, code)
        self.clear()
        sys.stdout.flush()  # for a reader of both
        complain(line)

    def fail_some(self, problems: Sequence[str], total: int, code: int = 0) -> None:
        """Write the first problems, and how many more of *total* there are."""
        for problem in problems:
            self.fail(safe(problem), code)
        if left_out := total - len(problems):
            self.fail(f"and {left_out:,} more")

    def share(self, number: int, total: int, what: str) -> None:
        """Show on a terminal how much is done; *total* 0: unknown."""
        percent = 100 * number // total if total else self._percent
        if percent != self._percent and not self.quiet and sys.stderr.isatty():
            self._percent = percent
            sys.stderr.write(f"\r{what}: {percent} %")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the progress from the terminal."""
        if self._percent:
            self._percent = 0
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class SiteOptions(NamedTuple):
    """Options for querying sites."""

    tokens: Tokens | None = None
    """None: the tokens of the project; without a project those of no crawler."""
    edition: str | None = None
    """None: the edition of the project, or the default one."""
    timeout: float = 10.0
    """Max time for one robots.txt with its redirects (seconds)."""
    usage: Sequence[str] = ()
    """Uses that pages must not disallow; none: the project's policy decides."""


class Session(NamedTuple):
    """One call of the command line."""

    screen: Screen
    load_query: Callable[[], QuerySites]
    """Imports what querying sites needs."""
    default_edition: str | Edition = "google-2019"
    default_tokens: Tokens = ()
    sites: SiteOptions = SiteOptions()

    @property
    def edition(self) -> Edition:
        """The edition of the options, else the default one."""
        from scrapy_robotspec.editions import get_edition  # --help needs none

        return get_edition(self.sites.edition or self.default_edition)
