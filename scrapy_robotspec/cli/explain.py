"""``explain``: why a URL is allowed or not, and without a URL what a crawler follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import arguments
from scrapy_robotspec.cli.inputs import crawlers, read_robots, read_urls
from scrapy_robotspec.cli.outputs import write_page
from scrapy_robotspec.show import answers, pages
from scrapy_robotspec.show.as_json import dumps, explained_object, followed_object, rule_object
from scrapy_robotspec.show.text import count, safe
from scrapy_robotspec.show.words import explained, overview

if TYPE_CHECKING:
    import argparse

    from scrapy_robotspec.cli.inputs import Crawler
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
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
    robots = read_robots(args.file, args.edition)
    asked = crawlers(args, robots)
    if urls:
        found = [
            answers.answer(robots, url, tokens)
            for tokens in asked
            for url in screen.progress(urls, "explained")
        ]
        _tell_answers(args, screen, robots, found)
    else:
        found = []
        _tell_files(args, screen, robots, asked)
    if args.html:
        write_page(args.html, pages.answers_page(args.file, robots, found, asked), screen)
    return 0 if all(one.verdict.allowed for one in found) else 1


def _tell_answers(
    args: argparse.Namespace, screen: Screen, robots: RobotsTxt, found: list[answers.Answer]
) -> None:
    groups = {one.tokens: answers.followed(robots, one.tokens) for one in found}
    for number, one in enumerate(found):
        if args.json:
            screen.say(dumps(explained_object(one, groups[one.tokens])))
            continue
        if number:
            screen.say()
        for line in explained(one, groups[one.tokens], screen):
            screen.say(line)


def _tell_files(
    args: argparse.Namespace, screen: Screen, robots: RobotsTxt, asked: list[Crawler]
) -> None:
    if not args.json:
        screen.say(screen.paint("strong", f"{safe(args.file)}: {file_words(robots)}"))
    for tokens in asked:
        group = answers.followed(robots, tokens)
        if args.json:
            rules = [rule_object(rule) for rule in answers.rules_of(robots, group)]
            sitemaps = list(robots.sitemaps)
            screen.say(dumps({**followed_object(group), "rules": rules, "sitemaps": sitemaps}))
            continue
        screen.say()
        for line in overview(robots, group, screen):
            screen.say(line)


def file_words(robots: RobotsTxt) -> str:
    """What a file holds, in numbers."""
    groups = robots.groups
    parts = [
        count(len(robots.body), "octet"),
        count(len(groups), "group"),
        count(sum(len(group.rules) for group in groups), "rule"),
        count(len(robots.sitemaps), "sitemap"),
    ]
    cut = ", cut at the parsing limit" if robots.truncated else ""
    return f"{', '.join(parts)}{cut}, edition {robots.edition.name}"
