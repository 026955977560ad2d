"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import Answers, Question
from scrapy_robotspec.cli.errors import MisuseError, with_problems
from scrapy_robotspec.cli.inputs import is_url, open_sources
from scrapy_robotspec.cli.urls import read_urls
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session, SiteOptions, SiteQuery
    from scrapy_robotspec.cli.urls import UrlOptions

_EXAMPLES = """\
  robotspec check robots.txt /page https://example.com/other --token examplebot
  robotspec check robots.txt --urls urls.txt --disallowed
  robotspec check robots.txt / --each-token
  robotspec check robots.txt --sitemap https://example.com/sitemap.xml
  robotspec check https://example.com/page https://example.org/
  curl -s https://example.com/robots.txt | robotspec check - /page"""


@options.command("check", _EXAMPLES)
@options.optional_file_argument
@options.urls_options
@options.crawler_options
@options.site_options
@click.option(
    "--sitemap",
    metavar="SITEMAP",
    help="Decide about every URL of a sitemap or an index of sitemaps: a path or a URL.",
)
@click.option("--disallowed", is_flag=True, help="Show only what is disallowed.")
@options.output_options
def command(
    session: Session,
    file: str | None,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    sitemap: str | None,
    disallowed: bool,
    output: Output,
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    output.check([file, urls.listed, sitemap])
    read = read_urls(urls, session.screen, file)
    question = Question(file, read.urls, crawlers, sites, disallowed=disallowed)
    answers = Answers(session, question, output)
    if sitemap is not None:
        return _check_sitemap(answers, sitemap)
    return with_problems(answers.answer(), read.bad_lines)


def _check_sitemap(answers: Answers, name: str) -> int:
    """Decide about the URLs of a sitemap by a file, or by the robots.txt of its site."""
    from scrapy_robotspec.cli.sitemap import read_all, read_sitemap

    session, question = answers.session, answers.question
    if question.urls:
        raise MisuseError("--sitemap takes the place of URLs: leave one of them out")
    file = question.file
    site = next((each for each in (file, name) if each is not None and is_url(each)), None)
    top = None if is_url(name) else read_sitemap(name)
    robots = None
    if file is not None and not is_url(file):
        sources = open_sources([file], session, question.sites)
        if len(sources) > 1:
            raise MisuseError("--sitemap is for one file")
        robots = sources[0].parse(session.edition(question.sites.edition), session.screen)

    def covered(urls: Sequence[str]) -> Sequence[str]:
        nonlocal site
        site = site or urls[0]
        return _covered(answers, urls, site)

    async def visit(query: SiteQuery) -> None:
        async for urls in read_all(name, top, query):
            if robots is not None:
                answers.by_file(robots, covered(urls))
            else:
                await query.decide(covered(urls))

    if robots is not None and top is not None and not top.is_index:
        answers.by_file(robots, covered(top.urls))
    else:
        answers.by_sites(visit)
    return answers.end(file or name, robots)


def _covered(answers: Answers, urls: Sequence[str], site: str) -> list[str]:
    """The URLs of the origin of *site*; others are listed (LOC-02)."""
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.render.as_json import dumps

    origin = Origin.of(site)
    found = [url for url in urls if Origin.of(url) == origin]
    answers.not_covered += len(urls) - len(found)
    if len(found) == len(urls) or answers.question.disallowed or answers.output.is_page_only:
        return found
    screen = answers.session.screen
    for url in urls:
        if Origin.of(url) == origin:
            continue
        if answers.output.as_json:
            screen.say(dumps({"url": url, "allowed": None, "reason": "not_covered"}))
        else:
            word = screen.paint("note", "not covered")
            screen.say(f"{word} {safe(url)}  (the robots.txt of another origin)")
    return found
