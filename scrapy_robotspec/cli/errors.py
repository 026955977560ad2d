"""Exit codes of every command, and the errors that lead to them."""

from __future__ import annotations

import sys
from contextlib import suppress

import click
from click.exceptions import NoArgsIsHelpError

from scrapy_robotspec.render.text import safe

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


#: A wrong command line; the message contains the remedy.
MisuseError = click.UsageError


class SiteError(MisuseError):
    """A site that the command line needs is unreachable."""

    exit_code = UNREACHABLE


def show_error(error: click.ClickException) -> int:
    """Write an error to stderr and return its exit code."""
    message = error.format_message()
    if not isinstance(error, NoArgsIsHelpError):
        ctx: click.Context | None = getattr(error, "ctx", None)
        name = ctx.command_path if ctx is not None else "robotspec"
        message = f"{name}: {safe(message, None)}"
    with suppress(OSError):  # a reader that is gone
        sys.stderr.write(f"{message}\n")
    return error.exit_code
