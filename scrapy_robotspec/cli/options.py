"""Arguments and options that several commands share."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scrapy_robotspec.editions import EDITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.cli.session import Session

_F = TypeVar("_F", bound="Callable[..., Any]")
_FILE = "a path, - for standard input, a folder, or the URL of a site"


def command(name: str, examples: str) -> Callable[[Callable[..., int]], click.Command]:
    """Make a command of a function of session and options.

    Adds ``--color/--no-color`` and ``--quiet``. ``examples`` ends the help, unwrapped.
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @click.pass_context
        def run(ctx: click.Context, /, color: bool | None, quiet: bool, **options: Any) -> int:
            session: Session = ctx.obj
            return function(session.with_screen(color, quiet), **options)

        wrapped = update_wrapper(run, function)  # takes the options over
        for decorator in _COMMON:
            wrapped = decorator(wrapped)
        return click.command(name, epilog=f"\b\nExamples:\n{examples}")(wrapped)

    return decorate


_COMMON: list[Callable[[Any], Any]] = [
    click.option(
        "-q", "--quiet", is_flag=True, help="No notes, no summary, no progress; answers only."
    ),
    click.option(
        "--color/--no-color",
        default=None,
        help="Colours; by default on a terminal only. NO_COLOR and FORCE_COLOR count, too.",
    ),
]


def stack(*decorators: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Several decorators as one, listed in the order of the help."""

    def decorate(function: _F) -> _F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


file_argument = click.argument("file", metavar="FILE")
optional_file_argument = click.argument("file", metavar="[FILE]", required=False)
files_argument = click.argument("files", metavar="FILE...", nargs=-1, required=True)

urls_options = stack(
    click.argument("url", metavar="[URL]...", nargs=-1),
    click.option(
        "--urls",
        metavar="LIST",
        help="A file with one URL or path a line; - for standard input. "
        "Blank lines and lines that begin with # are skipped.",
    ),
)

token_option = click.option(
    "--token",
    "tokens",
    metavar="TOKEN",
    multiple=True,
    help="Your crawler's product token. Again for each one to fall back on, the most specific "
    "first. Default: a crawler that no group names; in a project the project's.",
)

crawler_options = stack(
    token_option,
    click.option(
        "--each-token",
        is_flag=True,
        help="Answer for every crawler that the file names, and for any other.",
    ),
)

edition_option = click.option(
    "--edition",
    type=click.Choice(list(EDITIONS)),
    help="The edition of the specification. Default: google-2019; in a project the project's.",
)

timeout_option = click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Max time for the robots.txt of a site.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")

page_options = stack(
    click.option(
        "--html", metavar="OUT", help="Write a page for a browser, too; - for standard output."
    ),
    click.option("--force", is_flag=True, help="Let --html overwrite any file but an input."),
)

output_options = stack(json_option, page_options)

jobs_option = click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Processes for many files. Default: one for each processor.",
)
