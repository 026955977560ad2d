"""``diff``: what a new version of a file changes, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.change_report import report_changes
from scrapy_robotspec.cli.crawlers import find_crawlers
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.session import MISUSE, UNREACHABLE
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.parsed_file import ParsedFile

if TYPE_CHECKING:
    from scrapy_robotspec.cli.crawlers import CrawlerOptions
    from scrapy_robotspec.cli.outputs import OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions

_EXAMPLES = """\
  robotspec diff old.txt new.txt
  robotspec diff old.txt new.txt --urls urls.txt
  robotspec diff old.txt https://example.com/robots.txt --token examplebot
  robotspec diff old.txt new.txt --html diff.html"""


@options.command("diff", _EXAMPLES)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@options.urls_options
@options.crawler_options
@options.site_options
@options.output_options
def command(
    session: Session,
    old: str,
    new: str,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    output: OutputOptions,
) -> int:
    """Show the rules that a new version adds and removes, by crawler.

    Differences in spelling, order, comments and line numbers are left out. With URLs: also which
    of them change. OLD and NEW are files, - for standard input, or URLs, which stand for the
    robots.txt of their sites. Without --token: for every crawler that either file names, and for
    any other.
    """
    shown = output.open([old, new, urls.listed])
    read = read_urls(urls, session.screen, old, new)
    note_origins(read.urls, session.screen)
    sources = open_sources([old, new], session, sites)
    if len(sources) != 2:
        raise MisuseError("OLD and NEW are one file each, not folders")
    for source in sources:
        source.note_missing(session.screen)  # without a file everything is allowed
    if any(source.is_unreachable for source in sources):
        return UNREACHABLE
    before, after = (ParsedFile(source.parse(session.edition(sites.edition))) for source in sources)
    for source, file in zip(sources, (before, after), strict=True):
        note_unusual(source.name, file.robots, session.screen)
    asked = find_crawlers(crawlers, [before, after], None)
    names = (sources[0].name, sources[1].name)
    code = report_changes(session, names, (before, after), asked, read.urls, shown)
    return code or (MISUSE if read.bad_lines else 0)
