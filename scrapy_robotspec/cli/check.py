"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import answer_file, answer_sites, asked_sites
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.exit_codes import UNREACHABLE, code_of, is_disallowed, with_problems
from scrapy_robotspec.cli.inputs import is_url, note_unusual, open_sources
from scrapy_robotspec.cli.options import Question
from scrapy_robotspec.cli.outputs import check_one_origin
from scrapy_robotspec.cli.urls import missing_urls, note_origins, read_urls
from scrapy_robotspec.render.as_text import short
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output, OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions, SiteQuery
    from scrapy_robotspec.cli.urls import UrlOptions
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation

_EXAMPLES = """\
  robotspec check robots.txt /page https://example.com/other --token examplebot
  robotspec check robots.txt --urls urls.txt --disallowed
  robotspec check robots.txt / --each-token
  robotspec check robots.txt --sitemap https://example.com/sitemap.xml
  robotspec check https://example.com/page https://example.org/
  curl -s https://example.com/robots.txt | robotspec check - /page"""

#: Width of the column of crawlers (characters).
_WIDTH = 30


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
    usage: Sequence[str],
    sitemap: str | None,
    disallowed: bool,
    output: OutputOptions,
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    shown = output.open([file, urls.listed, sitemap])
    read = read_urls(urls, session.screen, file)
    labels = _labels(usage, session)
    question = Question(file, read.urls, crawlers, usage=labels)
    report = _Report(session, question, shown, disallowed)
    if sitemap is not None:
        return _check_sitemap(report, sitemap, sites)
    asked = asked_sites(question)
    code = _check_files(report, sites) if asked is None else _check_sites(report, asked, sites)
    return with_problems(code, read.bad_lines)


def _check_sites(report: _Report, asked: Sequence[str], sites: SiteOptions) -> int:
    if not asked:
        raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
    if report.output.page is not None:
        check_one_origin(asked)
    answer_sites(asked, report.question, report.session, sites, report.handle)
    return report.end("", None)


def _check_files(report: _Report, sites: SiteOptions) -> int:
    session, question = report.session, report.question
    assert question.file is not None
    if not question.urls:
        raise missing_urls(question.file)
    edition = session.edition(sites.edition)
    question.crawlers.crawler(edition, ())  # a wrong token is an error before the files are read
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, sites)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if report.output.page is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    left_out = 0
    for source in sources:
        robots = source.parse(edition)
        note_unusual(source.name, robots, session.screen)
        report.name = source.name if len(sources) > 1 else ""
        left_out += answer_file(robots, question, session, report.handle)
    return with_problems(report.end(sources[0].name, robots), left_out)


def _check_sitemap(report: _Report, name: str, sites: SiteOptions) -> int:
    """Decide about the URLs of a sitemap by a file, or by the robots.txt of its site."""
    from scrapy_robotspec.cli.sitemap import read_all, read_sitemap

    session, question = report.session, report.question
    if question.urls:
        raise MisuseError("--sitemap takes the place of URLs: leave one of them out")
    file = question.file
    site = next((each for each in (file, name) if each is not None and is_url(each)), None)
    top = None if is_url(name) else read_sitemap(name)
    robots = None
    if file is not None and not is_url(file):
        sources = open_sources([file], session, sites)
        if len(sources) > 1:
            raise MisuseError("--sitemap is for one file")
        robots = sources[0].parse(session.edition(sites.edition))
        note_unusual(sources[0].name, robots, session.screen)
    left_out = 0

    def decide(urls: Sequence[str]) -> Sequence[str]:
        """Answer for the URLs that the file covers; without a file they are returned."""
        nonlocal site, left_out
        site = site or urls[0]
        covered = report.covered(urls, site)
        if robots is None:
            return covered
        asked = question._replace(urls=covered)
        left_out += answer_file(robots, asked, session, report.handle)
        return ()

    async def visit(query: SiteQuery) -> None:
        async for urls in read_all(name, top, query):
            await query.decide(decide(urls))

    if robots is not None and top is not None and not top.is_index:
        decide(top.urls)
    else:
        answer_sites([], question, session, sites, report.handle, visit)
    return with_problems(report.end(file or name, robots), left_out)


def _labels(labels: Sequence[str], session: Session) -> Sequence[str]:
    """Labels of usage, each once. Raises :class:`MisuseError` for what cannot be one."""
    if not labels:
        return ()
    from scrapy_robotspec.access.usage_policy import meant_label
    from scrapy_robotspec.protocol.usage import is_label

    for label in labels:
        if not is_label(label):
            raise MisuseError(f"{label!a} is not a label of usage: give one such as train-ai")
        if meant := meant_label(label):
            session.screen.fail(f"--usage {label}: do you mean {meant}?")
    return tuple(dict.fromkeys(labels))


class _Report:
    """Prints answers as they come, counts them, and keeps them for a page."""

    def __init__(
        self, session: Session, question: Question, output: Output, disallowed: bool
    ) -> None:
        self.session = session
        self.question = question
        self.output = output
        self.disallowed = disallowed
        self.name = ""
        """The file, where there are many."""
        self._numbers: Counter[bool | None] = Counter()
        self._uses: Counter[tuple[str, str]] = Counter()
        """Allowed pages, by label and its preference."""
        self._not_covered = 0
        self._code = 0

    def handle(self, found: Explanation) -> None:
        """Print one answer."""
        labels = self.question.usage
        self._code = max(self._code, code_of(found, labels))
        self._numbers[found.allowed] += 1
        self.output.keep(found)
        if labels and found.allowed:
            usage = found.usage
            for label in labels:
                self._uses[label, usage.preference(label) if usage else "unknown"] += 1
        if self.output.is_page_only:
            return
        if not self.disallowed or is_disallowed(found, labels):
            self.session.screen.say(self._line(found))

    def _line(self, found: Explanation) -> str:
        labels = self.question.usage
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import dumps, short_object

            shown = short_object(found, labels)
            return dumps({"file": self.name, **shown} if self.name else shown)
        prefix = f"{safe(self.name)}  " if self.name else ""
        if self.question.crawlers.each:
            prefix += f"{found.crawler:<{_WIDTH}}  "
        return short(found, prefix, self.session.screen.paint, labels)

    def covered(self, urls: Sequence[str], site: str) -> list[str]:
        """The URLs of the origin of *site*; others are listed (LOC-02)."""
        from scrapy_robotspec.access.origin import Origin

        origin = Origin.of(site)
        found = [url for url in urls if Origin.of(url) == origin]
        self._not_covered += len(urls) - len(found)
        if len(found) < len(urls) and not (self.disallowed or self.output.is_page_only):
            for url in urls:
                if Origin.of(url) != origin:
                    self._say_not_covered(url)
        return found

    def _say_not_covered(self, url: str) -> None:
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import dumps

            self.session.screen.say(dumps({"url": url, "allowed": None, "reason": "not_covered"}))
            return
        word = self.session.screen.paint("note", "not covered")
        self.session.screen.say(f"{word} {safe(url)}  (the robots.txt of another origin)")

    def end(self, name: str, robots: RobotsTxt | None) -> int:
        """Sum up, write the page and return the exit code."""
        if self._numbers.total() > 1 and not (self.output.as_json or self.output.is_page_only):
            more = f", {self._not_covered:,} not covered" if self._not_covered else ""
            self.session.screen.sum_up(_summary(self._numbers) + more)
            for label in self.question.usage:
                self.session.screen.sum_up(_use_summary(label, self._uses))
        self.output.write_answers(self.session, name, robots)
        return self._code


def _summary(numbers: Counter[bool | None]) -> str:
    """How many URLs are allowed, disallowed, and (None) without an answer."""
    total = count(numbers.total(), "answer")
    unknown = f", {numbers[None]:,} without an answer" if numbers[None] else ""
    return f"{total}: {numbers[True]:,} allowed, {numbers[False]:,} disallowed{unknown}"


def _use_summary(label: str, uses: Counter[tuple[str, str]]) -> str:
    allowed, disallowed, unknown = (
        uses[label, preference] for preference in ("allow", "disallow", "unknown")
    )
    return f"{label}: {allowed:,} allowed, {disallowed:,} disallowed, {unknown:,} unknown"
