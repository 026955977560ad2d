"""``lint``: findings about a file, as a compiler prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import read_robots, shown_name
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.show import pages
from scrapy_robotspec.show.as_json import dumps, finding_object
from scrapy_robotspec.show.text import count, safe

if TYPE_CHECKING:
    import argparse

    from scrapy_robotspec.protocol.values import Finding
    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "what a person should know about a file: file:line: code message"
DESCRIPTION = "Tell what in a file is ignored, misspelt, without effect or not as probably meant."
EXAMPLES = """\
{program} lint robots.txt
{program} lint robots.txt --edition google        what Google's crawlers make of it
{program} lint robots.txt other/robots.txt --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``lint``."""
    parser.add_argument(
        "file", metavar="FILE", nargs="+", help="a robots.txt file; - for standard input"
    )
    arguments.add_edition(parser)
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if there is any finding."""
    files = [(shown_name(name), read_robots(name, args.edition)) for name in args.file]
    found = [(name, robots.lint()) for name, robots in files]
    for name, findings in found:
        for finding in findings:
            if args.json:
                screen.say(dumps({"file": name, **finding_object(finding)}))
            else:
                screen.say(line(name, finding, screen))
    total = sum(len(findings) for _, findings in found)
    if not args.json:
        screen.note(count(total, "finding") if total else "nothing to find fault with")
    if args.html:
        write_page(args.html, pages.lint_page(files), screen)
    return 1 if total else 0


def line(name: str, finding: Finding, screen: Screen) -> str:
    """``file:line: code message``; line 1 stands for the file as a whole."""
    place = f"{safe(name)}:{max(finding.line, 1)}:"
    return f"{place} {screen.paint('note', finding.code)} {safe(finding.message)}"
