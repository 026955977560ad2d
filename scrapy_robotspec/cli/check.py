"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.crawlers import check_tokens
from scrapy_robotspec.cli.fast_check import check_many
from scrapy_robotspec.cli.inputs import is_url, note_unusual, open_sources
from scrapy_robotspec.cli.question import Question, check_labels
from scrapy_robotspec.cli.session import DISALLOWED, MISUSE
from scrapy_robotspec.cli.urls import missing_urls, note_origins, read_urls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.crawlers import CrawlerOptions
    from scrapy_robotspec.cli.outputs import OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions

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
@options.site_options
@click.option(
    "--usage",
    metavar="LABEL",
    multiple=True,
    help="Also show whether pages may be used for this, such as train-ai. Again for each use.",
)
@click.option("--disallowed", is_flag=True, help="Show only what is disallowed.")
@options.jobs_option
@options.output_options
def command(
    session: Session,
    file: str | None,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    usage: Sequence[str],
    disallowed: bool,
    jobs: int | None,
    output: OutputOptions,
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    read = read_urls(urls, session.screen, file)
    question = Question(file, read.urls, crawlers, usage=check_labels(usage))
    is_site = file is None or is_url(file)
    if is_site or crawlers.each or usage or output.as_json or output.html is not None:
        from scrapy_robotspec.cli.check_report import check_with_report

        shown = output.open([file, urls.listed])
        code = check_with_report(session, question, sites, shown, disallowed=disallowed, jobs=jobs)
    else:
        code = _check_files(session, question, sites, disallowed, jobs)
    return code or (MISUSE if read.bad_lines else 0)


def _check_files(
    session: Session, question: Question, sites: SiteOptions, disallowed: bool, jobs: int | None
) -> int:
    """``check`` as it is usually called: a file, one crawler, text."""
    assert question.file is not None
    if not question.urls:
        raise missing_urls(question.file)
    edition = session.edition(sites.edition)
    tokens = question.crawlers.tokens
    crawler = check_tokens(tokens, edition) if tokens else session.default_tokens
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, sites)
    if len(sources) > 1:
        from scrapy_robotspec.cli.check_report import check_many_files

        return check_many_files(session, sources, question, edition, disallowed, jobs)
    robots = sources[0].parse(edition)
    note_unusual(sources[0].name, robots, session.screen)
    refused = check_many(robots, crawler, question.urls, session.screen, only_disallowed=disallowed)
    return DISALLOWED if refused else 0
