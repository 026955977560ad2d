"""``show``: what a file contains for a crawler, or for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import GOOD
from scrapy_robotspec.cli.inputs import open_sources
from scrapy_robotspec.render.as_text import crawler_summary, file_summary
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import paint, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session, SiteOptions, Tokens

_EXAMPLES = """\
  robotspec show robots.txt
  robotspec show robots.txt --token GPTBot
  robotspec show https://example.com/ --html page.html"""


@options.command("show", _EXAMPLES)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.crawler_options
@options.site_options
@options.output_options
def command(
    session: Session,
    files: Sequence[str],
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    output: Output,
) -> int:
    """Show the groups and sitemaps of a robots.txt.

    With a crawler: everything that applies to it.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site.
    """
    output.check(files)
    sources = open_sources(files, session, sites)
    output.check_single(sources)
    edition, screen = session.edition(sites.edition), session.screen
    for at, source in enumerate(sources):
        robots = source.parse(edition, screen)
        file = ParsedFile(robots)
        asked = options.find_crawlers(crawlers, [file], ()) if any(crawlers) else []
        if output.is_page_only:
            pass
        elif output.as_json:
            screen.say_json(_objects(source.name, file, asked))
        else:
            if at:
                screen.say("")
            screen.say(*_lines(source.name, file, asked))
        output.write(session, source.name, robots, [], asked)
    return GOOD


def _lines(name: str, file: ParsedFile, asked: Sequence[Tokens]) -> Iterator[str]:
    yield paint("strong", f"{safe(name)}: {file.summary()}")
    if not asked:
        yield from file_summary(file)
    for tokens in asked:
        yield ""
        yield from crawler_summary(file, file.group_for(tokens))


def _objects(name: str, file: ParsedFile, asked: Sequence[Tokens]) -> Iterator[dict[str, Any]]:
    """An object for each crawler; for none, one with all groups and what holds for any other."""
    from scrapy_robotspec.render.as_json import crawler_object, file_object

    shown = file_object(name, file)
    if asked:
        shown["groups"] = None  # thousands of crawlers would repeat them
    for tokens in asked or [()]:
        yield {**shown, **crawler_object(file.group_for(tokens), file.robots.edition)}
