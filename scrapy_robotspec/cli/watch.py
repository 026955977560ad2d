"""``watch``: what a site changed since the copy in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.change_report import report_changes
from scrapy_robotspec.cli.crawlers import crawlers, named_crawlers
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import is_url, open_sources
from scrapy_robotspec.cli.outputs import open_output
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.site import utc
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.store.base import RecordStore

_EXAMPLES = """\
  robotspec watch https://example.com/ --cache sqlite:///robots.db
  scrapy robotspec watch https://example.com/ --token examplebot"""


@options.command("watch", _EXAMPLES)
@click.argument("sites", metavar="URL...", nargs=-1, required=True)
@click.option(
    "--cache",
    metavar="URI",
    help="The store: sqlite:///robots.db or redis://host. Default: that of the project.",
)
@options.crawler_options
@options.edition_option
@options.timeout_option
@options.output_options
def command(
    session: Session,
    sites: Sequence[str],
    cache: str | None,
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    timeout: float,
    as_json: bool,
    html: str | None,
    force: bool,
) -> int:
    """Compare the robots.txt of sites with the last copy stored.

    The store then keeps the new copy.

    Exits with 1 if anything changed that matters to a crawler, which is meant for cron. A site that
    is not in the store yet is stored; the store keeps its copy of a site that is unreachable.
    """
    for site in sites:
        if not is_url(site):
            raise MisuseError(f"{site!r} is not the URL of a site: write https://{site}")
    output = open_output(html, [], force)
    if output is not None and len(sites) > 1:
        raise MisuseError("--html is for one site")
    store = _open_store(cache or session.cache)
    try:
        sources = open_sources(sites, session, edition=edition, timeout=timeout, fresh=True)
        codes = [
            _watch(source, store, session, edition, tokens, each_token, as_json, output)
            for source in sources
        ]
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
    edition: str | None,
    tokens: Sequence[str],
    each_token: bool,
    as_json: bool,
    output: Output | None,
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
    chosen = session.edition(edition)
    files = (_parse(held, chosen), _parse(record, chosen))
    asked = crawlers(tokens, each_token, (), [files[0]]) if tokens else named_crawlers(files)
    names = (f"copy of {utc(held.fetched_at)}", source.name)
    return report_changes(session, names, files, asked, (), as_json=as_json, output=output)


def _parse(record: RobotsRecord, edition: Edition) -> ParsedFile:
    """The rules of a record; without a file everything is allowed."""
    return ParsedFile(RobotsTxt.parse(record.body, edition))
