"""``lint``: findings about a file, as a compiler prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import read_robots, shown_name
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.show import pages
from scrapy_robotspec.show.as_json import dumps, finding_object
from scrapy_robotspec.show.text import count, listed, safe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.models import Finding, Severity
    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "what a person should know about a file: file:line: code severity: message"
DESCRIPTION = """\
Tell what in a file is ignored, misspelt, without effect or not as probably meant.
Advice is shown, too, but makes no exit code of 1 unless --strict is given."""
EXAMPLES = """\
{program} lint robots.txt
{program} lint robots.txt --edition google        what Google's crawlers make of it
{program} lint robots.txt other/robots.txt --json
{program} lint robots.txt --strict"""

#: The style of each severity on a terminal, and how it is counted.
STYLES: Mapping[Severity, str] = {"error": "bad", "warning": "note", "advice": "faint"}
NOUNS: Mapping[Severity, Sequence[str]] = {
    "error": ["error"],
    "warning": ["warning"],
    "advice": ["piece of advice", "pieces of advice"],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``lint``."""
    parser.add_argument(
        "file", metavar="FILE", nargs="+", help="a robots.txt file; - for standard input"
    )
    parser.add_argument("--strict", action="store_true", help="exit code 1 for advice, too")
    arguments.add_edition(parser)
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if there is anything but advice, or anything at all if that is asked for."""
    files = [(shown_name(name), read_robots(name, args.edition)) for name in args.file]
    found = [(name, finding) for name, robots in files for finding in robots.lint()]
    for name, finding in found:
        if args.json:
            screen.say(dumps({"file": name, **finding_object(finding)}))
        else:
            screen.say(line(name, finding, screen))
    severities = [finding.severity for _, finding in found]
    if not args.json:
        screen.note(summary(severities))
    if args.html:
        write_page(args.html, pages.lint_page(files), screen)
    return 1 if (args.strict and severities) or set(severities) - {"advice"} else 0


def line(name: str, finding: Finding, screen: Screen) -> str:
    """``file:line: code severity: message``; line 1 stands for the file as a whole."""
    place = f"{safe(name)}:{max(finding.line, 1)}:"
    what = screen.paint(STYLES[finding.severity], f"{finding.code} {finding.severity}")
    return f"{place} {what}: {safe(finding.message)}"


def summary(severities: Sequence[Severity]) -> str:
    """How many findings there are of each severity."""
    parts = [
        count(number, *NOUNS[severity])
        for severity in NOUNS
        if (number := severities.count(severity))
    ]
    return listed(parts) or "nothing to find fault with"
