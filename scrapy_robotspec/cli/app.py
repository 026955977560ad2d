"""Finds and runs a command.

A command's module is imported when it is called.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli.session import (
    BROKEN,
    INTERRUPTED,
    MISUSE,
    UNREAD,
    MisuseError,
    Screen,
    Session,
    closest,
    complain,
    show_error,
    version_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


#: Every command with its summary.
COMMANDS: Mapping[str, str] = {
    "check": "Decide about one URL, or thousands.",
    "explain": "Show why: the group, the line that decides, the rules that lose.",
    "show": "Show the contents of a file for a crawler, or for all.",
    "lint": "Find mistakes in a file.",
    "diff": "Show the changes of a new version, and for whom they matter.",
    "editions": "Show where the editions of the specification disagree.",
    "audit": "Check an access log: which crawlers kept to robots.txt.",
    "replay": "Make every decision of a crawl again, from its evidence.",
    "bulk": "Write verdicts for archives, folders and tables of files.",
}

#: The modules of commands that are not in one of their own name.
_MODULES: Mapping[str, str] = {
    "explain": "check",
    "show": "check",
    "diff": "differences",
    "editions": "differences",
    "replay": "audit",
}

_EPILOG = """\
\b
Which command for which question:
  May examplebot fetch this page?         check robots.txt /page --token examplebot
  Which of 1,000 URLs are disallowed?     check robots.txt --urls urls.txt --disallowed
  Which crawlers are kept out?            check robots.txt / --each-token
  Why is nothing of a site crawled?       explain https://example.com/page
  Which line decides, what else matches?  explain robots.txt /page --token GPTBot
  Show me that on a page.                 explain robots.txt /page --html page.html
  What does the file contain?             show robots.txt
  What is wrong with this file?           lint robots.txt
  What does a change do, and for whom?    diff old.txt new.txt --urls urls.txt
  Do the specifications agree about it?   editions robots.txt
  Which crawlers break my robots.txt?     audit access.log --robots robots.txt
  Which crawlers do 1,000 sites keep out? bulk folder --tokens names.txt --out verdicts

FILE is a path, - for standard input, a folder, or the URL of a site. Each command has its own
--help.

Exit codes: 0 all allowed, no finding, no difference; 1 something disallowed, found or different;
2 misuse; 3 a robots.txt is unreachable; 70 an error of this tool.

Shell completion: eval "$(_ROBOTSPEC_COMPLETE=bash_source robotspec)" in ~/.bashrc (or zsh_source,
fish_source)."""


class LazyGroup(click.Group):
    """A group whose commands are imported at their first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # a shell completes a word
                return None
            meant = closest(cmd_name.lower(), COMMANDS)
            remedy = f"did you mean {meant}?" if meant else f"commands are {', '.join(COMMANDS)}"
            raise MisuseError(f"no such command: {cmd_name!r}; {remedy}")
        module = import_module(f"scrapy_robotspec.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@version_option
def robotspec() -> None:
    """Read robots.txt files: what they allow, and why."""


def main(
    open_session: Callable[[Screen], Session],
    arguments: Sequence[str] | None = None,
    *,
    program: str = "robotspec",
) -> int:
    """Run a command line and return its exit code.

    ``open_session`` gives access to sites and the defaults of a project. ``arguments``: by default
    those of the process.
    """
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # for terminals without UTF-8
    output = sys.stdout
    try:
        code: int = robotspec.main(
            arguments, prog_name=program, standalone_mode=False, obj=open_session
        )
        sys.stdout.flush()
    except click.ClickException as error:
        code = show_error(error)
    except BrokenPipeError:
        code = UNREAD
    except SystemExit:
        if sys.stdout is output:  # a shell completes a word
            raise
        code = UNREAD  # click has put another stream there
    except OSError as error:  # files are read and written elsewhere, with errors of their own
        complain(f"{program}: cannot write standard output: {error.strerror or error}")
        code = MISUSE
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except MemoryError:
        complain(f"{program}: not enough memory")
        code = BROKEN
    except Exception:
        from traceback import format_exc

        complain(f"{format_exc()}{program}: an error of this tool, please report it")
        code = BROKEN
    _discard_unwritten()
    return code


def _replace_closed_streams() -> None:
    """Discard what is written to a stream that was closed by the caller (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _discard_unwritten() -> None:
    """Write no more to a stream that fails, also not at exit, where an error would be shown."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # noqa: PERF203
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
