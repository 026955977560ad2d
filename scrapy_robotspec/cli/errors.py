"""Exit codes of every command, and the errors that lead to them."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.exceptions import NoArgsIsHelpError

from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

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
