"""The command line for files: ``python -m scrapy_robotspec COMMAND FILE …``.

Offline: nothing is fetched (``scrapy robotspec`` asks sites). Here the command is found and run;
each command has a module of its own.

Exit codes: 0 all allowed, nothing found or no difference; 1 something disallowed, found or
different; 2 misuse.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

from scrapy_robotspec.cli import check, diff, editions, explain, lint
from scrapy_robotspec.cli.arguments import command_parser, top_parser
from scrapy_robotspec.cli.inputs import MisuseError
from scrapy_robotspec.show.terminal import Screen
from scrapy_robotspec.show.text import safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


class Command(Protocol):
    """What the module of a command has."""

    SUMMARY: str
    DESCRIPTION: str
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, args: argparse.Namespace, screen: Screen) -> int:
        """Answer; the result is the exit code. Raises :class:`MisuseError`."""


COMMANDS: Mapping[str, Command] = {
    "check": check,
    "explain": explain,
    "lint": lint,
    "diff": diff,
    "editions": editions,
}

MISUSE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's own, and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must do, too
    if not words or words[0] not in COMMANDS:
        return _no_command(words)
    command = COMMANDS[words[0]]
    parser = command_parser(words[0], command.DESCRIPTION, command.EXAMPLES)
    command.add_arguments(parser)
    args = parser.parse_intermixed_args(words[1:])
    try:
        return command.run(args, Screen(sys.stdout, sys.stderr, os.environ))
    except MisuseError as misuse:
        sys.stderr.write(f"{parser.prog}: {safe(str(misuse))}\n")
        return MISUSE
    except BrokenPipeError:
        return _closed_pipe()
    except KeyboardInterrupt:
        return 130


def _no_command(words: Sequence[str]) -> int:
    parser = top_parser({name: command.SUMMARY for name, command in COMMANDS.items()})
    if not words:
        parser.print_help(sys.stderr)
        return MISUSE
    parser.parse_args(words)  # shows help and version; anything else is misuse
    return MISUSE


def _closed_pipe() -> int:
    """Whoever read our output has had enough: no traceback, also not at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
