"""``explain``: why a URL is allowed or not, and without a URL what a crawler follows."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import crawlers, read_robots, read_urls, shown_name
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.show import pages
from scrapy_robotspec.show.answers import Answer, answer
from scrapy_robotspec.show.as_json import dumps, explained_object, followed_object, rule_object
from scrapy_robotspec.show.book import Book
from scrapy_robotspec.show.text import safe
from scrapy_robotspec.show.words import explained, overview

if TYPE_CHECKING:
    import argparse

    from scrapy_robotspec.cli.inputs import Crawler
    from scrapy_robotspec.show.terminal import Screen

SUMMARY = "why: the group followed, the line that decides, the rules that lose"
DESCRIPTION = (
    "Tell why a crawler may fetch a URL or not: the group it follows, every rule that matches and\n"
    "the line that decides. Without a URL: what the file holds for that crawler."
)
EXAMPLES = """\
{program} explain robots.txt /private/page --token GPTBot
{program} explain robots.txt --token GPTBot       the group, its rules, crawl-delay, sitemaps
{program} explain robots.txt /page --html page.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``explain``."""
    arguments.add_file(parser)
    arguments.add_urls(parser)
    arguments.add_crawlers(parser, "a crawler that no group names")
    arguments.add_edition(parser)
    arguments.add_outputs(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Answer; 1 if anything is disallowed."""
    urls = read_urls(args, screen, args.file)
    book = Book(read_robots(args.file, args.edition))
    asked = crawlers(args, book.robots)
    found = _tell_answers(args, screen, book, list(product(asked, urls)))
    if not urls:
        _tell_file(args, screen, book, asked)
    if args.html:
        write_page(args.html, pages.answers_page(shown_name(args.file), book, found, asked), screen)
    return 0 if all(one.verdict.allowed for one in found) else 1


def _tell_answers(
    args: argparse.Namespace, screen: Screen, book: Book, questions: list[tuple[Crawler, bytes]]
) -> list[Answer]:
    """Explain each, and return those that a page may show."""
    found: list[Answer] = []
    group = book.followed(())
    for tokens, url in screen.progress(questions, "explained"):
        group = group if group.tokens == tokens else book.followed(tokens)
        one = answer(book.robots, url, tokens)
        if args.json:
            screen.say(dumps(explained_object(one, group)))
        else:
            if found:
                screen.say()
            for line in explained(one, group, screen):
                screen.say(line)
        found.append(one)
    return found


def _tell_file(args: argparse.Namespace, screen: Screen, book: Book, asked: list[Crawler]) -> None:
    if not args.json:
        screen.say(screen.paint("strong", f"{safe(shown_name(args.file))}: {book.summary()}"))
    for tokens in asked:
        group = book.followed(tokens)
        if args.json:
            rules = [rule_object(rule) for rule in group.rules]
            sitemaps = list(book.sitemaps)
            screen.say(dumps({**followed_object(group), "rules": rules, "sitemaps": sitemaps}))
            continue
        screen.say()
        for line in overview(book, group, screen):
            screen.say(line)
