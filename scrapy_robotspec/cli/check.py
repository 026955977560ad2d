"""``check``: allowed or not, one line for each URL; ``explain``: why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import FOUND, GOOD, MISUSE, UNREACHABLE, MisuseError
from scrapy_robotspec.cli.inputs import (
    for_site,
    is_url,
    load_query,
    note_contents,
    open_sources,
    read_file,
)
from scrapy_robotspec.cli.urls import absolute, note_origins, read_urls
from scrapy_robotspec.protocol.paths import is_robots_txt
from scrapy_robotspec.render.as_text import explained, short
from scrapy_robotspec.render.explanation import (
    Explanation,
    explain,
    explain_fully,
    explain_site,
    refused_by_usage,
)
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Query, QueryTask, Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.site import SiteAnswer

_EXAMPLES = """\
  robotspec check robots.txt /page https://example.com/other --token examplebot
  robotspec check robots.txt --urls urls.txt --disallowed
  robotspec check robots.txt / --each-token
  robotspec check robots.txt --sitemap https://example.com/sitemap.xml
  robotspec check https://example.com/page https://example.org/
  curl -s https://example.com/robots.txt | robotspec check - /page"""

_EXPLAIN_EXAMPLES = """\
  robotspec explain robots.txt /private/page --token GPTBot
  robotspec explain robots.txt /page --html page.html
  robotspec explain https://example.com/page"""

#: Width of the column of crawlers (characters).
_WIDTH = 30

_question_options = options.stack(
    click.argument("file", metavar="[FILE]", required=False),
    options.urls_options,
    options.crawler_options,
    options.site_options,
    options.output_options,
)


@options.command("check", _EXAMPLES)
@_question_options
@click.option(
    "--sitemap",
    metavar="SITEMAP",
    help="Decide about every URL of a sitemap or an index of sitemaps: a path or a URL; the URL of "
    "a robots.txt stands for all that it names.",
)
@click.option("--disallowed", is_flag=True, help="Show only what is disallowed.")
@click.option(
    "--usage",
    metavar="LABEL",
    multiple=True,
    help="Also refuse pages whose usage preferences disallow this use, such as train-ai.",
)
def command(
    session: Session,
    file: str | None,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    sitemap: str | None,
    disallowed: bool,
    usage: Sequence[str],
    output: Output,
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    output.check([file, urls.listed, sitemap])
    for label in usage:
        from scrapy_robotspec.access.usage_policy import doubt_about

        if doubt := doubt_about(label):
            session.screen.note(f"note: --usage is {safe(doubt, None)}")
    sites = sites._replace(usage=usage)
    answers = Decisions(session, file, crawlers, sites, output, only_disallowed=disallowed)
    if sitemap is None:
        return answers.answer(urls)
    if any(urls):
        raise MisuseError("--sitemap takes the place of URLs: leave one of them out")
    return _check_sitemap(answers, sitemap)


@options.command("explain", _EXPLAIN_EXAMPLES)
@_question_options
def explain_command(
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
    return Decisions(session, file, crawlers, sites, output, fully=True).answer(urls)


@dataclass
class Decisions:
    """Decides about URLs: prints and counts the answers."""

    session: Session
    file: str | None
    crawlers: CrawlerOptions
    sites: SiteOptions
    output: Output
    fully: bool = False
    """Whether losing rules and groups are wanted, too."""
    only_disallowed: bool = False
    _file: str = ""  # the name of a file that decides
    _is_one_of_many: bool = False
    _code: int = GOOD
    _numbers: Counter[bool | None] = field(default_factory=Counter)
    _not_covered: int = 0  # URLs that another robots.txt governs
    _kept: list[Explanation] = field(default_factory=list)  # for a page

    def answer(self, given: UrlOptions) -> int:
        """Answer by files or sites; returns the exit code.

        Raises :class:`MisuseError` for a question that cannot be answered.
        """
        file, session = self.file, self.session
        urls = read_urls(given, session.screen, file)
        asked = self._asked_sites(urls)
        if asked is not None:
            if not asked:
                raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
            from scrapy_robotspec.access.origin import Origin

            self.output.check_single({Origin.of(url) for url in asked})
            self.by_sites(lambda query: query.decide(asked), len(asked))
            return self.end("", None)
        assert file is not None
        if not urls:
            raise MisuseError(
                for_site(file)
                or f"{file} is the FILE with the rules: give at least one URL or path to decide "
                "about, or a list with --urls LIST; show prints the file's groups"
            )
        edition = session.edition(self.sites.edition)
        note_origins(urls, session.screen)
        sources = open_sources([file], session, self.sites, single=is_url(file))
        self.output.check_single(sources)
        for source in sources:
            robots = source.parse(edition, session.screen)
            self._is_one_of_many = len(sources) > 1
            self.by_file(source.name, robots, urls)
        return self.end(sources[0].name, robots)

    def _asked_sites(self, urls: Sequence[str | bytes]) -> list[str] | None:
        """The URLs to decide by their own sites, else None.

        The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
        Raises :class:`MisuseError` for a path that belongs to no site.
        """
        file = self.file
        if file is not None and not is_url(file):
            return None
        if file is None or not is_robots_txt(file):
            return absolute(urls if file is None else [file, *urls], None)
        if self.crawlers.each:
            return None
        from scrapy_robotspec.access.origin import Origin

        asked = absolute(urls, file)
        is_own = bool(asked) and {Origin.of(url) for url in asked} == {Origin.of(file)}
        return asked if is_own else None

    def by_file(self, name: str, robots: RobotsTxt, urls: Sequence[str | bytes]) -> None:
        """Print the answers of one file, by crawler, then URL.

        Raises :class:`MisuseError` for a wrong token.
        """
        self._file = name
        file = ParsedFile(robots)
        answer = explain_fully if self.fully else explain
        for tokens in options.find_crawlers(self.crawlers, [file], self.session.default_tokens):
            for url in urls:
                self.add(refused_by_usage(answer(file, url, tokens), robots, self.sites.usage))

    def by_sites(self, task: QueryTask, total: int = 0) -> None:
        """Print the answers of sites, as they come.

        ``total``: their number, if it is known. Raises :class:`MisuseError`.
        """
        session = self.session
        if self.crawlers.each and (self.file is None or is_url(self.file)):
            raise MisuseError("--each-token is for the crawlers of a file: give its URL as FILE")
        query = load_query(session)
        tokens = self.crawlers.crawler(session.edition(self.sites.edition), None)

        noted: set[str] = set()

        def handle_site(site: SiteAnswer) -> None:
            if site.robots is not None and site.origin is not None and site.origin not in noted:
                noted.add(site.origin)
                note_contents(site.origin.robots_url, site.robots, session.screen)
            self.add(explain_site(site, fully=self.fully))
            session.screen.share(self._numbers.total(), total, "answered")
            session.screen.out.flush()

        query(task, self.sites._replace(tokens=tokens), handle_site)
        session.screen.clear()

    def add(self, found: Explanation) -> None:
        """Print one answer."""
        if found.reason == "not_covered":
            self._not_covered += 1
        else:
            self._numbers[found.allowed] += 1
        if found.allowed is False:
            code = UNREACHABLE if found.reason == "unreachable" else FOUND
            self._code = max(self._code, code)
        elif found.reason == "problem":
            self._code = max(self._code, MISUSE)
        if self.output.html is not None:
            self._kept.append(found)
        is_left_out = self.only_disallowed and (found.allowed or found.reason == "not_covered")
        if not (is_left_out or self.output.is_page_only):
            self._say(found)

    def _say(self, found: Explanation) -> None:
        screen = self.session.screen
        name = self._file if self._is_one_of_many else ""
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import full_object, short_object

            shown = full_object(found) if self.fully else short_object(found)
            screen.say_json({"file": self._file or None, **shown})
        elif self.fully:
            if self._numbers.total() > 1:
                screen.say()
            for line in explained(found, name):
                screen.say(line)
        else:
            prefix = f"{safe(name)}  " if name else ""
            if self.crawlers.each:
                prefix += f"{found.crawler:<{_WIDTH}}  "
            screen.say(short(found, prefix))

    def end(self, name: str, robots: RobotsTxt | None) -> int:
        """Sum up, write the page if any, return the exit code."""
        numbers = self._numbers
        if numbers.total() > 1 and not self.output.as_json and not self.fully:
            total = count(numbers.total(), "answer")
            line = f"{total}: {numbers[True]:,} allowed, {numbers[False]:,} disallowed"
            if numbers[None]:
                line += f", {numbers[None]:,} without an answer"
            if self._not_covered:
                line += f", {self._not_covered:,} not covered"
            self.session.screen.note(line)
        site = self._kept[0].site if self._kept else None
        if site is not None:
            robots = site.robots
            name = site.origin.robots_url if site.origin is not None else site.url
        file = ParsedFile(robots) if robots is not None else None
        self.output.write(self.session, name, file, self._kept)
        return self._code


def _check_sitemap(answers: Decisions, name: str) -> int:
    """Decide about the URLs of a sitemap by a file, or by the robots.txt of its site."""
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.cli.sitemap import MAX_BYTES, parse_sitemap, read_all

    session, file = answers.session, answers.file
    site = next((each for each in (file, name) if each is not None and is_url(each)), None)
    top = None if is_url(name) else parse_sitemap(name, read_file(name, MAX_BYTES + 1))
    robots = None
    if file is not None and not is_url(file):
        (source,) = open_sources([file], session, answers.sites, single=True)
        robots = source.parse(session.edition(answers.sites.edition), session.screen)

    def covered(urls: Sequence[str]) -> Sequence[str]:
        """The URLs of the origin of the site; others are listed (LOC-02)."""
        nonlocal site
        site = site or urls[0]
        origin = Origin.of(site)
        for url in urls:
            if Origin.of(url) != origin:
                answers.add(Explanation(url, (), None, "not_covered"))
        return [url for url in urls if Origin.of(url) == origin]

    async def task(query: Query) -> None:
        async for urls in read_all(name, top, query):
            if robots is not None:
                answers.by_file(str(file), robots, covered(urls))
            else:
                await query.decide(covered(urls))

    if robots is not None and top is not None and not top.is_index:
        answers.by_file(str(file), robots, covered(top.urls))
    else:
        answers.by_sites(task)
    return answers.end(file or name, robots)
