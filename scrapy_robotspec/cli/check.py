"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import Printer, answer, answer_file, answer_sites
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.exit_codes import is_disallowed, with_problems
from scrapy_robotspec.cli.inputs import is_url, note_unusual, open_sources
from scrapy_robotspec.cli.options import Question
from scrapy_robotspec.cli.urls import read_urls
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
    printer = _Printer(session, question, shown, disallowed)
    if sitemap is not None:
        return _check_sitemap(printer, sitemap, sites)
    return with_problems(answer(printer, sites), read.bad_lines)


def _check_sitemap(printer: _Printer, name: str, sites: SiteOptions) -> int:
    """Decide about the URLs of a sitemap by a file, or by the robots.txt of its site."""
    from scrapy_robotspec.cli.sitemap import read_all, read_sitemap

    session, question = printer.session, printer.question
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

    def covered(urls: Sequence[str]) -> Sequence[str]:
        nonlocal site
        site = site or urls[0]
        return printer.covered(urls, site)

    async def visit(query: SiteQuery) -> None:
        async for urls in read_all(name, top, query):
            if robots is not None:
                answer_file(robots, covered(urls), printer)
            else:
                await query.decide(covered(urls))

    if robots is not None and top is not None and not top.is_index:
        answer_file(robots, covered(top.urls), printer)
    else:
        answer_sites([], printer, sites, visit)
    return printer.end(file or name, robots)


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


class _Printer(Printer):
    """Prints a line for each answer, and counts them."""

    def __init__(
        self, session: Session, question: Question, output: Output, disallowed: bool
    ) -> None:
        super().__init__(session, question, output)
        self._disallowed = disallowed
        self._numbers: Counter[bool | None] = Counter()
        self._uses: Counter[tuple[str, str]] = Counter()
        """Allowed pages, by label and its preference."""
        self._not_covered = 0

    def say(self, found: Explanation) -> None:
        """Print one answer."""
        labels = self.question.usage
        self._numbers[found.allowed] += 1
        if labels and found.allowed:
            usage = found.usage
            for label in labels:
                self._uses[label, usage.preference(label) if usage else "unknown"] += 1
        if not self._disallowed or is_disallowed(found, labels):
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
        if len(found) < len(urls) and not (self._disallowed or self.output.is_page_only):
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
        if self._numbers.total() > 1 and not self.output.as_json:
            more = f", {self._not_covered:,} not covered" if self._not_covered else ""
            self.session.screen.sum_up(_summary(self._numbers) + more)
            for label in self.question.usage:
                self.session.screen.sum_up(_use_summary(label, self._uses))
        return super().end(name, robots)


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
