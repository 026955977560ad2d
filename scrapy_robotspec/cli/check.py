"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.crawlers import check_tokens
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.fast_check import check_many
from scrapy_robotspec.cli.inputs import is_url, note_unusual, open_sources
from scrapy_robotspec.cli.session import DISALLOWED, MISUSE, SiteOptions
from scrapy_robotspec.cli.urls import note_origins, read_urls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.cli.urls import Urls

_EXAMPLES = """\
  robotspec check robots.txt /page https://example.com/other --token examplebot
  robotspec check robots.txt --urls urls.txt --disallowed
  robotspec check robots.txt / --each-token
  robotspec check https://example.com/page https://example.org/
  curl -s https://example.com/robots.txt | robotspec check - /page"""


@options.command("check", _EXAMPLES)
@options.optional_file_argument
@options.urls_options
@options.crawler_options
@options.edition_option
@click.option(
    "--usage",
    metavar="LABEL",
    multiple=True,
    help="Also show whether pages may be used for this, such as train-ai. Again for each use.",
)
@click.option("--disallowed", is_flag=True, help="Show only what is disallowed.")
@options.timeout_option
@options.jobs_option
@options.output_options
def command(
    session: Session,
    file: str | None,
    url: Sequence[str],
    urls: str | None,
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    usage: Sequence[str],
    disallowed: bool,
    timeout: float,
    jobs: int | None,
    as_json: bool,
    html: str | None,
    force: bool,
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    listed = read_urls(url, urls, session.screen, file)
    if file is None or is_url(file) or each_token or usage or as_json or html is not None:
        from scrapy_robotspec.cli.check_report import check_with_report

        asking = SiteOptions(None, edition, timeout)
        code = check_with_report(
            session,
            file,
            listed.urls,
            tokens,
            each_token,
            asking,
            usage=usage,
            disallowed=disallowed,
            jobs=jobs,
            as_json=as_json,
            page=(html, [file, urls], force),
        )
    else:
        code = _check_files(session, file, listed, tokens, edition, disallowed, jobs)
    return code or (MISUSE if listed.bad_lines else 0)


def _check_files(
    session: Session,
    name: str,
    listed: Urls,
    tokens: Sequence[str],
    edition_name: str | None,
    disallowed: bool,
    jobs: int | None,
) -> int:
    """``check`` as it is usually called: a file, one crawler, text."""
    if not listed.urls:
        raise MisuseError("give at least one URL or path, or a list with --urls LIST")
    edition = session.edition(edition_name)
    crawler = check_tokens(tokens, edition) if tokens else session.default_tokens
    note_origins(listed.urls, session.screen)
    sources = open_sources([name], session)
    if len(sources) > 1:
        from scrapy_robotspec.cli.check_report import check_many_files

        return check_many_files(session, sources, listed.urls, crawler, edition, disallowed, jobs)
    robots = sources[0].parse(edition)
    note_unusual(sources[0].name, robots, session.screen)
    refused = check_many(robots, crawler, listed.urls, session.screen, only_disallowed=disallowed)
    return DISALLOWED if refused else 0
