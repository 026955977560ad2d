"""``explain``: why a URL is allowed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import Answers, Question
from scrapy_robotspec.cli.errors import with_problems
from scrapy_robotspec.cli.urls import read_urls

if TYPE_CHECKING:
    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions

_EXAMPLES = """\
  robotspec explain robots.txt /private/page --token GPTBot
  robotspec explain robots.txt /page --html page.html
  robotspec explain https://example.com/page"""


@options.command("explain", _EXAMPLES)
@options.optional_file_argument
@options.urls_options
@options.crawler_options
@options.site_options
@options.output_options
def command(
    session: Session,
    file: str | None,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    output: Output,
) -> int:
    """Show the group that applies and the rule that decides.

    Every other rule that matches is shown, too.

    FILE is a robots.txt: a path, - for standard input, or a URL. A URL that is not a robots.txt is
    a page: it is judged by the robots.txt of its site, and how that was obtained is shown.
    """
    output.check([file, urls.listed])
    read = read_urls(urls, session.screen, file)
    question = Question(file, read.urls, crawlers, sites, fully=True)
    return with_problems(Answers(session, question, output).answer(), read.bad_lines)
