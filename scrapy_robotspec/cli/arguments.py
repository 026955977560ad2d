"""The arguments that commands share, and the help that is meant to be enough to find an answer.

What only one command takes stands in its module.
"""

from __future__ import annotations

import argparse
from importlib import metadata
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import EDITIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = "python -m scrapy_robotspec"

_QUESTIONS = f"""\
which command for which question:
  may examplebot fetch this page?            {PROGRAM} check robots.txt /page --token examplebot
  which of these 1,000 URLs are disallowed?  {PROGRAM} check robots.txt --urls urls.txt --disallowed
  which crawlers are kept out?               {PROGRAM} check robots.txt / --each-token
  which line decides, and what else matches? {PROGRAM} explain robots.txt /page --token GPTBot
  which group does my crawler follow?        {PROGRAM} explain robots.txt --token GPTBot
  show me that on a page                     {PROGRAM} explain robots.txt /page --html page.html
  what is wrong with this file?              {PROGRAM} lint robots.txt
  what does a change of the file do?         {PROGRAM} diff old.txt new.txt --urls urls.txt
  do the specifications agree about it?      {PROGRAM} editions robots.txt
  what is an edition?                        {PROGRAM} editions
  why is nothing of a site crawled?          scrapy robotspec explain https://example.com/page

Each command has its own --help. FILE can be - for standard input. No command fetches anything;
"scrapy robotspec" does.
"""

EXIT_CODES = """\
exit codes: 0 all allowed, nothing found (or advice only), no difference; 1 something disallowed,
found or different; 2 misuse
"""


def top_parser(summaries: Mapping[str, str]) -> argparse.ArgumentParser:
    """The parser for a command line without a command."""
    commands = "\n".join(f"  {name:<10} {summary}" for name, summary in summaries.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage="%(prog)s COMMAND FILE [URL ...]",
        description=f"What a robots.txt file says, and why.\n\ncommands:\n{commands}",
        epilog=f"{_QUESTIONS}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("command", metavar="COMMAND", choices=summaries, help=argparse.SUPPRESS)
    return parser


def _version() -> str:
    try:
        return metadata.version("scrapy-robotspec")
    except metadata.PackageNotFoundError:
        return "unknown: run from its sources"


def command_parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """The parser of one command, still without its arguments."""
    shown = "\n".join(f"  {line}" for line in examples.format(program=PROGRAM).splitlines())
    return argparse.ArgumentParser(
        prog=f"{PROGRAM} {name}",
        description=description,
        epilog=f"examples:\n{shown}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_file(parser: argparse.ArgumentParser) -> None:
    """The robots.txt file."""
    parser.add_argument("file", metavar="FILE", help="a robots.txt file; - for standard input")


def add_urls(parser: argparse.ArgumentParser) -> None:
    """The URLs asked about."""
    parser.add_argument("url", metavar="URL", nargs="*", help="a URL, or a path that begins with /")
    parser.add_argument(
        "--urls", metavar="FILE", help="a file with one URL per line; - for standard input"
    )


def add_crawlers(parser: argparse.ArgumentParser, otherwise: str) -> None:
    """The crawler, or crawlers, asked for."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--token",
        metavar="TOKEN",
        action="append",
        default=[],
        help="your crawler's product token; once more for each one to fall back on, the most "
        f"specific first. Without it: {otherwise}",
    )
    choice.add_argument(
        "--each-token",
        action="store_true",
        help="ask for every crawler that the file names, and for any other",
    )


def add_edition(parser: argparse.ArgumentParser) -> None:
    """The edition followed."""
    parser.add_argument(
        "--edition",
        choices=EDITIONS,
        default="google-2019",
        help="whose rules are followed (default: %(default)s); the command editions tells them",
    )


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """The forms of the answer besides text."""
    parser.add_argument(
        "--json", action="store_true", help="one JSON object per line instead of text"
    )
    parser.add_argument(
        "--html",
        metavar="OUT",
        help="write the answer, with the whole file, as one page for a browser",
    )
