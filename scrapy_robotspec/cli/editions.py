"""``editions``: where the editions disagree about a file, and what the editions are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import MisuseError, crawlers, read_file, read_urls, shown_name
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.cli.samples import sample_paths
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.show import pages
from scrapy_robotspec.show.answers import Answer, answer, crawler_words, reason_words
from scrapy_robotspec.show.as_json import dumps, verdict_object
from scrapy_robotspec.show.terminal import columns
from scrapy_robotspec.show.text import count, safe
from scrapy_robotspec.show.words import verdict_word

if TYPE_CHECKING:
    import argparse

    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "where the five editions of the specification disagree"
DESCRIPTION = (
    "Tell where the editions disagree about URLs; without URLs about paths made from the rules.\n"
    "Without a file: what the editions are."
)
EXAMPLES = """\
{program} editions                                the editions and whom they follow
{program} editions robots.txt /page --token examplebot
{program} editions robots.txt --each-token"""

FOLLOWS = {
    "google-2019": "Google's specification of July 2019",
    "rfc9309": "the Internet standard of 2022",
    "google": "Google's matcher and crawlers of today",
    "google-2010": "Google's specification before 2019",
    "classic": "the convention of the 1990s, without wildcards",
}

#: One answer of every edition to the same question, in the order of EDITIONS.
Row = tuple[Answer, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``editions``."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a robots.txt file; - for standard input"
    )
    arguments.add_urls(parser)
    arguments.add_crawlers(parser, "a crawler that no group names")
    parser.add_argument("--all", action="store_true", help="also where they agree")
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if they disagree about anything."""
    if args.file is None:
        if args.html or args.token or args.each_token or args.urls:
            raise MisuseError("give the FILE that the editions are to read")
        return _tell_editions(args, screen)
    urls = read_urls(args, screen, args.file)
    body = read_file(args.file, max(one.parsing_limit for one in EDITIONS.values()) + 1)
    readings = {name: RobotsTxt.parse(body, edition) for name, edition in EDITIONS.items()}
    urls = urls or sample_paths(readings.values())
    asked = crawlers(args, *readings.values())
    rows = [
        tuple(answer(robots, url, tokens, matches=False) for robots in readings.values())
        for tokens, url in screen.progress(list(product(asked, urls)), "compared")
    ]
    split = [row for row in rows if disagree(row)]
    for row in rows if args.all else split:
        for line in [dumps(_object(row))] if args.json else _lines(row, screen):
            screen.say(line)
    if not args.json:
        screen.say(f"the editions disagree about {len(split):,} of {count(len(rows), 'question')}")
    if args.html:
        shown = rows if args.all else split
        write_page(args.html, pages.editions_page(shown_name(args.file), readings, shown), screen)
    return 1 if split else 0


def disagree(row: Row) -> bool:
    """Whether one edition allows what another disallows."""
    return len({one.verdict.allowed for one in row}) > 1


def _lines(row: Row, screen: Screen) -> list[str]:
    lines = [f"{safe(row[0].url)}  {screen.paint('faint', f'({crawler_words(row[0].tokens)})')}"]
    alike: dict[tuple[bool, str], list[Answer]] = {}
    for one in row:
        key = (one.verdict.allowed, reason_words(one.verdict))
        alike.setdefault(key, []).append(one)
    for (_, reason), ones in alike.items():
        names = ", ".join(one.verdict.edition for one in ones)
        word = verdict_word(ones[0].verdict, screen)
        lines.append(f"  {word}  {names}  {screen.paint('faint', f'({reason})')}")
    return lines


def _object(row: Row) -> dict[str, object]:
    return {
        "url": row[0].url,
        "tokens": list(row[0].tokens),
        "agree": not disagree(row),
        "editions": {one.verdict.edition: verdict_object(one.verdict) for one in row},
    }


def _tell_editions(args: argparse.Namespace, screen: Screen) -> int:
    if args.json:
        for name, follows in FOLLOWS.items():
            screen.say(dumps({"edition": name, "follows": follows}))
        return 0
    for line in columns(FOLLOWS.items()):
        screen.say(line)
    return 0
