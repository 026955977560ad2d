"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import crawlers, read_robots, shown_name, some_urls
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.show import pages, sections
from scrapy_robotspec.show.answers import Answer, answer, crawler_words, reason_words
from scrapy_robotspec.show.as_json import answer_object, dumps
from scrapy_robotspec.show.book import Book
from scrapy_robotspec.show.text import count, safe
from scrapy_robotspec.show.words import verdict_word

if TYPE_CHECKING:
    import argparse

    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "allowed or not, for one URL or thousands"
DESCRIPTION = "Tell for each URL whether a crawler may fetch it, and which line says so."
EXAMPLES = """\
{program} check robots.txt /page https://example.com/other --token examplebot
{program} check robots.txt --urls urls.txt --disallowed
{program} check robots.txt / --each-token         which crawlers are kept out
curl -s https://example.com/robots.txt | {program} check - /page"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``check``."""
    arguments.add_file(parser)
    arguments.add_urls(parser)
    arguments.add_crawlers(parser, "a crawler that no group names")
    arguments.add_edition(parser)
    parser.add_argument("--disallowed", action="store_true", help="only what is disallowed")
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if anything is disallowed."""
    urls = some_urls(args, screen, args.file)
    robots = read_robots(args.file, args.edition)
    asked = crawlers(args, robots)
    width = min(30, max(len(crawler_words(tokens)) for tokens in asked)) if asked[1:] else 0
    kept: list[Answer] = []
    numbers: Counter[bool] = Counter()
    questions = list(product(asked, urls))
    for tokens, url in screen.progress(questions, "checked"):
        few = len(questions) <= sections.MOST_CARDS
        found = answer(robots, url, tokens, matches=bool(args.html) and few)
        numbers[found.verdict.allowed] += 1
        if args.html:
            kept.append(found)
        if not (args.disallowed and found.verdict.allowed):
            who = f"{crawler_words(tokens):<{width}}  " if width else ""
            screen.say(dumps(answer_object(found)) if args.json else line(found, who, screen))
    if numbers.total() > 1 and not args.json:
        screen.say(summary(numbers))
    if args.html:
        write_page(args.html, pages.answers_page(shown_name(args.file), Book(robots), kept), screen)
    return 1 if numbers[False] else 0


def line(found: Answer, who: str, screen: Screen) -> str:
    """One answer on one line; the stranger's words come last."""
    reason = screen.paint("faint", f"({reason_words(found.verdict)})")
    return f"{verdict_word(found.verdict, screen)}  {who}{safe(found.url)}  {reason}"


def summary(numbers: Counter[bool]) -> str:
    """How many of each."""
    total = count(numbers.total(), "answer")
    return f"{total}: {numbers[True]:,} allowed, {numbers[False]:,} disallowed"
