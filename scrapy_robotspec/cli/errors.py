"""Misuse of the command line, shown as one line with the remedy."""

from __future__ import annotations

import sys

import click
from click.exceptions import NoArgsIsHelpError

from scrapy_robotspec.cli.exit_codes import MISUSE, UNREACHABLE
from scrapy_robotspec.render.text import safe


class MisuseError(click.ClickException):
    """A wrong command line; the message contains the remedy."""

    exit_code = MISUSE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.ctx = click.get_current_context(silent=True)


class UnreachableError(MisuseError):
    """No response decides about something that the command line needs."""

    exit_code = UNREACHABLE


#: Options of similar tools, and ours for them.
_SYNONYMS = {
    "--agent": "--token",
    "--bot": "--token",
    "--user-agent": "--token",
    "--useragent": "--token",
    "--output": "--html",
}


def _message(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption) and error.option_name in _SYNONYMS:
        return f"{error.message} Did you mean '{_SYNONYMS[error.option_name]}'?"
    return error.format_message()


def show_error(error: click.ClickException) -> int:
    """Write an error to stderr and return its exit code."""
    ctx: click.Context | None = getattr(error, "ctx", None)
    if isinstance(error, NoArgsIsHelpError):
        sys.stderr.write(f"{error.message}\n")
        return MISUSE
    name = ctx.command_path if ctx is not None else "robotspec"
    sys.stderr.write(f"{name}: {safe(_message(error), None)}\n")
    if ctx is not None and isinstance(error, click.UsageError):
        sys.stderr.write(f"Try '{ctx.command_path} --help'.\n")
    return error.exit_code
