"""``diff``: the verdicts that a new version of a file turns over."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import crawlers, named_crawlers, read_robots, read_urls, shown_name
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.cli.samples import sample_paths
from scrapy_robotspec.show import pages
from scrapy_robotspec.show.answers import Answer, answer, crawler_words, reason_words
from scrapy_robotspec.show.as_json import dumps, verdict_object
from scrapy_robotspec.show.text import count, safe
from scrapy_robotspec.show.words import verdict_word

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy_robotspec.cli.inputs import Crawler
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "which verdicts a new version of a file turns over"
DESCRIPTION = (
    "Ask two versions of a file about the same URLs and tell every verdict that differs. Without\n"
    "--token: for each crawler that either of them names, and for any other. Without URLs: for\n"
    "paths made from the rules of both."
)
EXAMPLES = """\
{program} diff old.txt new.txt --urls urls.txt
{program} diff old.txt new.txt /page --token examplebot
{program} diff old.txt new.txt --html diff.html"""


class Flip(NamedTuple):
    """Two answers to one question that differ."""

    old: Answer
    new: Answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``diff``."""
    parser.add_argument("old", metavar="OLD", help="the robots.txt file before the change")
    parser.add_argument("new", metavar="NEW", help="and after it; - for standard input")
    arguments.add_urls(parser)
    arguments.add_crawlers(parser, "as with --each-token")
    arguments.add_edition(parser)
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if any verdict differs."""
    urls = read_urls(args, screen, args.old, args.new)
    old, new = read_robots(args.old, args.edition), read_robots(args.new, args.edition)
    asked = crawlers(args, old) if args.token else named_crawlers((old, new))
    made = not urls
    urls = urls or sample_paths((old, new))
    found: list[Flip] = []
    for flip in flips(old, new, list(product(asked, urls)), screen):
        tokens = flip.old.tokens
        if not args.json and (not found or found[-1].old.tokens != tokens):
            screen.say(screen.paint("strong", crawler_words(tokens)))
        found.append(flip)
        for line in [dumps(_object(flip))] if args.json else _lines(flip, screen):
            screen.say(line)
    if not args.json:
        asked_about = _paths(len(urls)) if made else count(len(urls), "URL")
        screen.say(
            f"{len(found):,} of {count(len(urls) * len(asked), 'verdict')} differ "
            f"({asked_about}, {count(len(asked), 'crawler')})"
        )
    if args.html:
        write_page(
            args.html,
            pages.diff_page(shown_name(args.old), old, shown_name(args.new), new, found),
            screen,
        )
    return 1 if found else 0


def flips(
    old: RobotsTxt, new: RobotsTxt, questions: list[tuple[Crawler, bytes]], screen: Screen
) -> Iterator[Flip]:
    """The questions that the two files answer differently."""
    for tokens, url in screen.progress(questions, "compared"):
        if old.allowed(url, tokens) != new.allowed(url, tokens):
            yield Flip(*(answer(one, url, tokens, matches=False) for one in (old, new)))


def _paths(number: int) -> str:
    return count(number, "path made from the rules", "paths made from the rules")


def _lines(flip: Flip, screen: Screen) -> Iterator[str]:
    yield f"  {safe(flip.old.url)}"
    for name, found in zip(Flip._fields, flip, strict=True):
        reason = screen.paint("faint", f"({reason_words(found.verdict)})")
        yield f"    {name}  {verdict_word(found.verdict, screen)}  {reason}"


def _object(flip: Flip) -> dict[str, object]:
    return {
        "url": flip.old.url,
        "tokens": list(flip.old.tokens),
        "old": verdict_object(flip.old.verdict),
        "new": verdict_object(flip.new.verdict),
    }
