"""Arguments and options that several commands share, and their values.

A page destroys nothing: no input, no file of another tool.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from scrapy_robotspec.cli.inputs import UrlOptions
from scrapy_robotspec.cli.session import (
    UNREACHABLE,
    MisuseError,
    Screen,
    SiteError,
    SiteOptions,
    version_option,
)
from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.errors import RobotSpecError, UnreachableError
from scrapy_robotspec.protocol.agents import product_tokens, tokens_from_user_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens

_F = TypeVar("_F", bound="Callable[..., Any]")

STANDARD_OUTPUT = "-"

#: Found near the beginning of each page that this tool writes.
MARK = b'<meta name="generator" content="scrapy_robotspec'
_MARK_WITHIN = 4096  # bytes

#: Max lines that are read or shown for all crawlers of a file together, and how many of a group a
#: crawler counts for at least. Nearly all lines of a file may hold for each, so their number grows
#: with the square of its size. Of 1,061 real files none has more than 11,000.
MAX_LINES = 300_000
_MIN_LINES = 30


class CrawlerOptions(NamedTuple):
    """Options that name crawlers."""

    named: Sequence[str]
    """Product tokens of one crawler; none for the default one."""
    each: bool = False
    """Whether every crawler is meant that the files name."""

    def crawler(self, edition: Edition, default: Tokens | None) -> Tokens | None:
        """The crawler named, else *default*; None: every crawler of the files.

        Raises :class:`MisuseError` for a token that no group can have.
        """
        if self.each and self.named:
            raise MisuseError("--token and --each-token exclude each other")
        if not self.named:
            return None if self.each else default
        try:
            return product_tokens(list(self.named), edition)
        except ValueError as error:
            raise MisuseError(f"--token must be {error}; for a list, give --token again") from None

    def find(self, files: Sequence[ParsedFile], default: Tokens | None) -> list[Tokens]:
        """The crawlers to decide for.

        Without options: *default*, or, if that is None, every crawler that the files name.
        """
        # The last of several editions reads every name (UAG-10).
        crawler = self.crawler(files[-1].robots.edition, default)
        return named_crawlers(files) if crawler is None else [crawler]


def in_edition(crawler: Tokens, file: ParsedFile) -> Tokens:
    """The product tokens that a file's edition reads from names (UAG-11)."""
    edition = file.robots.edition
    if edition.whole_agent_names:
        return crawler
    return tuple(token for name in crawler for token in tokens_from_user_agent(name, edition))


def named_crawlers(files: Sequence[ParsedFile]) -> list[Tokens]:
    """Each crawler that the files name, then any other.

    Raises :class:`MisuseError` if they have more than ``MAX_LINES`` lines together.
    """
    names: dict[str, str] = {}
    for file in files:
        for token in filter(None, file.tokens()):  # no crawler has the empty token (UAG-03)
            names.setdefault(token.lower(), token)
    crawlers: list[Tokens] = [(name,) for name in names.values()]
    lines = 0
    for crawler in crawlers:
        sizes = (file.size_for(in_edition(crawler, file)) for file in files)
        lines += sum(max(size, _MIN_LINES) for size in sizes)
        if lines > MAX_LINES:
            raise MisuseError(
                f"the {len(crawlers):,} crawlers that are named have more than {MAX_LINES:,} lines "
                "together: choose one with --token"
            )
    return [*crawlers, ()]


# --- pages


class Output(NamedTuple):
    """The form of a command's answers: lines, JSON, and a page."""

    as_json: bool
    """JSON instead of text."""
    html: str | None = None
    """The file of the page; ``-``: standard output, in place of the lines; None: no page."""
    force: bool = False
    """Whether the page may overwrite a file of another tool."""

    @property
    def is_page_only(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self.html == STANDARD_OUTPUT

    def check(self, inputs: Iterable[str | None]) -> None:
        """Raise :class:`MisuseError` unless the page may be written.

        It must not be one of ``inputs``, nor an existing file of another tool without ``force``.
        """
        name = self.html
        if name is None or self.is_page_only:
            return
        if any(_is_same(name, given) for given in inputs if given is not None):
            raise MisuseError(f"--html {name} would overwrite an input: choose another name")
        if os.path.isfile(name) and not self.force and not _is_ours(name):
            raise MisuseError(
                f"{name} exists and is not a page of this tool: choose another name, or overwrite "
                "it with --force"
            )
        folder = os.path.dirname(name) or "."
        if not (name and os.path.isdir(folder)):
            raise MisuseError(
                f"cannot write {name!r}: give the name of a file in a folder that exists"
            )

    def check_single(self, files: Collection[object]) -> None:
        """Raise :class:`MisuseError` if a page would be about several files or sites."""
        if self.html is not None and len(files) > 1:
            remedy = "call it for each of them, with a page of its own"
            raise MisuseError(f"--html is for one file, or for URLs of one site: {remedy}")

    def write_page(self, screen: Screen, text: str) -> None:
        """Write a page that was asked for."""
        if self.html is None or self.is_page_only:
            sys.stdout.write(text)
            return
        write_file(self.html, text.encode())
        screen.note(f"page written: {self.html}")


def write_file(name: str, contents: bytes) -> None:
    """Replace a file, or the target of a link, as a whole.

    Raises :class:`MisuseError` where the system refuses.
    """
    from scrapy_robotspec.files import replacing

    is_link = os.path.islink(name) and os.path.isfile(name)
    target = os.path.realpath(name) if is_link else name
    try:
        with interruptible(), replacing(target) as file:
            file.write(contents)
    except OSError as error:
        raise MisuseError(f"cannot write {name}: {error.strerror}") from error


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C and at SIGTERM, which clusters send.

    Otherwise they end the process at once, and leave what was begun."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, signal.default_int_handler) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _is_same(name: str, given: str) -> bool:
    with suppress(OSError, ValueError):
        if os.path.samefile(name, given):
            return True
    inside = os.path.realpath(given) + os.sep  # every file below a folder is an input
    return os.path.exists(name) and os.path.realpath(name).startswith(inside)


def _is_ours(name: str) -> bool:
    try:
        with open(name, "rb") as file:
            beginning = file.read(_MARK_WITHIN)
    except OSError:
        return False
    return not beginning or MARK in beginning


# --- commands

#: Values of several options, by the parameters that get them.
_KINDS: Mapping[str, Any] = {
    "urls": UrlOptions,
    "crawlers": CrawlerOptions,
    "sites": SiteOptions,
    "output": Output,
}


class Command(click.Command):
    """A command whose function gets a session and the options.

    Options that belong together are one value.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an error of click knows its command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> int:
        """Run the command in a session; returns the exit code."""
        color, quiet = (ctx.params.pop(name) for name in ("color", "quiet"))
        if color is None:
            wanted = os.environ.get("FORCE_COLOR") or sys.stdout.isatty()
            color = bool(wanted and not os.environ.get("NO_COLOR"))
        ctx.color = color
        screen = Screen(quiet=quiet)
        for name, kind in _KINDS.items():
            given = {field: ctx.params.pop(field) for field in kind._fields if field in ctx.params}
            if given:
                ctx.params[name] = kind(**given)
        try:
            session = ctx.obj(screen)
            sites = ctx.params.pop("sites", session.sites)
            ctx.params["session"] = session._replace(sites=sites)
            code: int = super().invoke(ctx)
        except RobotSpecError as error:
            kind = SiteError if isinstance(error, UnreachableError) else MisuseError
            raise kind(str(error), ctx) from error
        return max(code, screen.code) if screen.code == UNREACHABLE else code or screen.code


def command(examples: str) -> Callable[[Callable[..., int]], click.Command]:
    """Make a command of a function of session and options.

    Its name is that of the function, without ``_command``.

    Adds ``--color/--no-color``, ``--quiet`` and ``--version``. ``examples`` ends the help,
    unwrapped.
    """
    made = click.command(cls=Command, epilog=f"\b\nExamples:\n{examples}")
    return lambda function: made(_common_options(function))


def stack(*decorators: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Several decorators as one, listed in the order of the help."""

    def decorate(function: _F) -> _F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def flag(names: str, text: str) -> Callable[[_F], _F]:
    """An option without a value; *text* is shown in the help."""
    return click.option(*names.split(), help=text, is_flag=True)


def value(names: str, metavar: str | None, text: str, **more: Any) -> Callable[[_F], _F]:
    """An option with a value; *more* is for ``click.option``.

    *names*: the option, and its parameter where that has another name.
    """
    return click.option(*names.split(), metavar=metavar, help=text, **more)


_common_options = stack(
    click.option(
        "--color/--no-color",
        default=None,
        help="Colours; by default on a terminal only. NO_COLOR and FORCE_COLOR count, too.",
    ),
    flag("-q --quiet", "No notes, no summary, no progress; answers only."),
    version_option,
)


urls_options = stack(
    click.argument("given", metavar="[URL]...", nargs=-1),
    value(
        "--urls listed",
        "LIST",
        "A file with one URL or path a line; - for standard input. "
        "Blank lines and lines that begin with # are skipped.",
    ),
)


def token_option(default: str) -> Callable[[_F], _F]:
    """The option that names one crawler; *default*: the one without it."""
    return value(
        "--token named",
        "TOKEN",
        "The crawler's product token. Again for each one to fall back on, the most specific "
        f"first. Default: {default}.",
        multiple=True,
    )


crawler_options = stack(
    token_option("a crawler that no group names; in a project the project's"),
    flag("--each-token each", "Answer for every crawler that the file names, and for any other."),
)

timeout_option = value(
    "--timeout",
    "SECONDS",
    "Max time for the robots.txt of a site.",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
)

site_options = stack(
    value(
        "--edition",
        None,
        "The edition of the specification, one. Default: google-2019; in a project the project's.",
        type=click.Choice(EDITIONS),
    ),
    timeout_option,
)
json_option = flag("--json as_json", "One JSON object a line.")

output_options = stack(
    json_option,
    value(
        "--html",
        "OUT",
        "Write a page for a browser, too; - for standard output.",
        type=click.Path(dir_okay=False, allow_dash=True),
    ),
    flag("--force", "Let --html overwrite any file but an input."),
)
