"""``watch``: what a site changed since the copy in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.change_report import report_changes
from scrapy_robotspec.cli.crawlers import find_crawlers
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import is_url, open_sources
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.cli.crawlers import CrawlerOptions
    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.outputs import Output, OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.store.base import RecordStore

_EXAMPLES = """\
  robotspec watch https://example.com/ --cache sqlite:///robots.db
  scrapy robotspec watch https://example.com/ --token examplebot"""


@options.command("watch", _EXAMPLES)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option(
    "--cache",
    metavar="URI",
    help="The store: sqlite:///robots.db or redis://host. Default: that of the project.",
)
@options.crawler_options
@options.site_options
@options.output_options
def command(
    session: Session,
    urls: Sequence[str],
    cache: str | None,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    output: OutputOptions,
) -> int:
    """Compare the robots.txt of sites with the last copy stored.

    The store then keeps the new copy.

    Exits with 1 if anything changed that matters to a crawler, which is meant for cron. A site that
    is not in the store yet is stored; the store keeps its copy of a site that is unreachable.
    """
    for url in urls:
        if not is_url(url):
            raise MisuseError(f"{url!r} is not the URL of a site: write https://{url}")
    shown = output.open([])
    if shown.page is not None and len(urls) > 1:
        raise MisuseError("--html is for one site")
    store = _open_store(cache or session.cache)
    try:
        sources = open_sources(urls, session, sites._replace(fresh=True))
        edition = session.edition(sites.edition)
        codes = [_watch(each, store, session, edition, crawlers, shown) for each in sources]
    finally:
        store.close()
    return max(codes)


def _open_store(uri: str | None) -> RecordStore:
    if uri is None or uri.startswith("memory:"):
        raise MisuseError("no store keeps copies: give --cache sqlite:///robots.db")
    from scrapy_robotspec.store import open_store

    return open_store(uri)


def _watch(
    source: Source,
    store: RecordStore,
    session: Session,
    edition: Edition,
    crawlers: CrawlerOptions,
    output: Output,
) -> int:
    assert source.site is not None
    origin, record = source.site.origin, source.site.record
    if source.is_unreachable or origin is None or record is None or record.fetched_at is None:
        source.note_missing(session.screen)
        return UNREACHABLE
    held = store.get(origin)
    store.put(record)
    if held is None or held.fetched_at is None:
        session.screen.note(f"{safe(source.name)}: first copy stored")
        return 0
    session.screen.note(f"{safe(source.name)}: copy of {utc(held.fetched_at)}")
    files = (_parse(held, edition), _parse(record, edition))
    asked = find_crawlers(crawlers, files, None)
    names = (f"copy of {utc(held.fetched_at)}", source.name)
    return report_changes(session, names, files, asked, (), output)


def _parse(record: RobotsRecord, edition: Edition) -> ParsedFile:
    """The rules of a record; without a file everything is allowed."""
    return ParsedFile(RobotsTxt.parse(record.body, edition))
