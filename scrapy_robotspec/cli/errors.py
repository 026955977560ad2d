"""Exit codes of every command, and the errors that lead to them."""

from __future__ import annotations

import sys

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
#: Ctrl-C, as shells have it.
INTERRUPTED = 130


class MisuseError(click.ClickException):
    """A wrong command line; the message contains the remedy."""

    exit_code = MISUSE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.ctx = click.get_current_context(silent=True)


class UnreachableError(MisuseError):
    """No response decides about something that the command line needs."""

    exit_code = UNREACHABLE


def show_error(error: click.ClickException) -> int:
    """Write an error to stderr and return its exit code."""
    ctx: click.Context | None = getattr(error, "ctx", None)
    if isinstance(error, NoArgsIsHelpError):
        sys.stderr.write(f"{error.message}\n")
        return MISUSE
    name = ctx.command_path if ctx is not None else "robotspec"
    sys.stderr.write(f"{name}: {safe(error.format_message(), None)}\n")
    if ctx is not None and isinstance(error, click.UsageError):
        sys.stderr.write(f"Try '{ctx.command_path} --help'.\n")
    return error.exit_code


def with_problems(code: int, problems: int) -> int:
    """The exit code where something, such as a line, is left out."""
    return code or (MISUSE if problems else GOOD)
