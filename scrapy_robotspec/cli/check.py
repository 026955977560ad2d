"""``check``: allowed or not; ``explain``: why; ``show``: what a file contains."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.inputs import (
    Source,
    UrlOptions,
    absolute,
    for_site,
    is_url,
    note_origins,
    note_site,
    open_sources,
    origin_of,
    read_file,
    read_urls,
    robots_url,
    url_text,
)
from scrapy_robotspec.cli.session import (
    FOUND,
    GOOD,
    MISUSE,
    UNREACHABLE,
    MisuseError,
    Query,
    Session,
)
from scrapy_robotspec.protocol.paths import is_robots_txt
from scrapy_robotspec.protocol.usage import is_label
from scrapy_robotspec.render.as_text import explained, file_lines, short
from scrapy_robotspec.render.explanation import Explanation, explain, in_full, refused_by_usage
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.by_rule import ByRule
    from scrapy_robotspec.cli.options import CrawlerOptions, Output
    from scrapy_robotspec.cli.session import QueryTask
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

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

_SHOW_EXAMPLES = """\
  robotspec show robots.txt
  robotspec show robots.txt --token GPTBot
  robotspec show https://example.com/ --html page.html"""

#: Width of the column of crawlers (characters).
_WIDTH = 30
#: The words of the summary by verdict.
_WORDS = {True: "allowed", False: "disallowed", None: "without an answer"}
#: The exit code of an answer that is not "allowed", by its reason; of others ``FOUND``.
_CODES = {"unreachable": UNREACHABLE, "problem": MISUSE, "not_covered": GOOD}


_question_options = options.stack(
    click.argument("file", required=False),
    options.urls_options,
    options.crawler_options,
    options.site_options,
    options.output_options,
)


@options.command(_EXAMPLES)
@_question_options
@options.value(
    "--sitemap",
    "SITEMAP",
    "Decide about every URL of a sitemap or an index of sitemaps: a path or a URL; the URL of "
    "a robots.txt stands for all that it names.",
)
@options.flag("--disallowed only_disallowed", "Show only what is disallowed.")
@options.flag("--by-rule", "Show for each rule how many of the URLs it matches, and three of them.")
@options.value(
    "--usage",
    "LABEL",
    "Also refuse pages whose usage preferences disallow this use, such as train-ai.",
    multiple=True,
)
def check_command(
    session: Session, sitemap: str | None, only_disallowed: bool, by_rule: bool, **asked: Any
) -> int:
    """Decide whether a crawler may fetch URLs, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    answers = Answers(session, **asked, only_disallowed=only_disallowed)
    for label in session.sites.usage:
        if not is_label(label):
            raise MisuseError(f"--usage is {label!r}: give the label of a use, such as train-ai")
        from scrapy_robotspec.access.usage_policy import doubt_about

        if doubt := doubt_about(label):
            session.screen.note(f"note: --usage is {safe(doubt, None)}")
    if by_rule:
        from scrapy_robotspec.cli.by_rule import ByRule

        answers.by_rule = ByRule()
    if sitemap is None:
        return _answer(answers)
    if any(answers.urls):
        raise MisuseError("--sitemap takes the place of URLs: leave one of them out")
    return _check_sitemap(answers, sitemap)


@options.command(_EXPLAIN_EXAMPLES)
@_question_options
def explain_command(session: Session, **asked: Any) -> int:
    """Show the group that applies and the rule that decides.

    Every other rule that matches is shown, too.

    FILE is a robots.txt: a path, - for standard input, or a URL. A URL that is not a robots.txt is
    a page: it is judged by the robots.txt of its site, and how that was obtained is shown.
    """
    return _answer(Answers(session, **asked, fully=True))


def _answer(answers: Answers) -> int:
    """Decide about URLs by files or sites; returns the exit code.

    Raises :class:`MisuseError` for a question that cannot be answered.
    """
    screen, file, output = answers.session.screen, answers.file, answers.output
    output.check([file, answers.urls.listed])
    urls = read_urls(answers.urls, screen, file)
    asked = _asked_sites(file, urls, each_token=answers.crawlers.each)
    if asked is not None:
        if not asked:
            raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
        output.check_single(set(map(origin_of, asked)))
        answers.by_sites(lambda query: query.decide(asked), len(asked))
        return answers.end()
    assert file is not None
    if not urls:
        raise MisuseError(
            for_site(file)
            or f"{file!r} is the FILE with the rules: give at least one URL or path to decide "
            "about, or a list with --urls LIST; show prints the file's groups"
        )
    note_origins([file, *urls], screen)
    sources = open_sources([file], answers.session, single=is_url(file))
    output.check_single(sources)
    answers.has_many_files = len(sources) > 1
    for source in sources:
        answers.by_file(source.name, answers.parse(source), urls)
    return answers.end()


def _asked_sites(file: str | None, urls: Sequence[str], *, each_token: bool) -> list[str] | None:
    """The URLs to decide by their own sites, else None.

    The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
    Raises :class:`MisuseError` for a path that belongs to no site.
    """
    if file is None:
        return absolute(urls, None)
    if not is_url(file):
        return None
    if not is_robots_txt(file):
        return absolute([url_text(os.fsencode(file)), *urls], None)
    if each_token:
        return None
    asked = absolute(urls, file)
    return asked if set(map(origin_of, asked)) == {origin_of(file)} else None


@dataclass
class Answers:
    """Decides about URLs: prints and counts the answers."""

    session: Session
    file: str | None
    urls: UrlOptions
    crawlers: CrawlerOptions
    output: Output
    fully: bool = False
    """Whether losing rules and groups are wanted, too."""
    only_disallowed: bool = False
    has_many_files: bool = False
    by_rule: ByRule | None = None
    """Counts the URLs of each rule, and is shown instead of the answers."""
    _name: str | None = None  # of the file that decides
    _code: int = GOOD
    _numbers: Counter[str] = field(default_factory=Counter)  # by the words of the summary
    _kept: list[Explanation] = field(default_factory=list)  # for a page

    def parse(self, source: Source) -> RobotsTxt:
        """A file, with notes about its contents."""
        return source.parse(self.session.edition, self.session.screen)

    def by_file(self, name: str, robots: RobotsTxt, urls: Sequence[str]) -> None:
        """Print the answers of one file, by crawler, then URL.

        Raises :class:`MisuseError` for a wrong token.
        """
        self._name = name
        parsed = ParsedFile(robots, name)
        default = self.session.default_tokens
        for tokens in self.crawlers.find([parsed], default):
            for url in urls:
                found = explain(parsed, url, tokens)
                found = in_full(found, parsed) if self.fully else found
                self.add(refused_by_usage(found, self.session.sites.usage))

    def by_sites(self, task: QueryTask, total: int = 0) -> None:
        """Print the answers of sites, as they come.

        ``total``: their number, if it is known. Raises :class:`MisuseError`.
        """
        session, screen = self.session, self.session.screen
        if self.crawlers.each and (self.file is None or is_url(self.file)):
            raise MisuseError("--each-token is for the crawlers of a file: give its URL as FILE")
        query = session.load_query()
        tokens = self.crawlers.crawler(session.edition, None)
        noted: set[str] = set()

        def handle_site(site: Explanation) -> None:
            name = str(site.origin and site.origin.robots_url)
            if name not in noted:
                noted.add(name)
                note_site(name, site, screen)
            if self.fully and site.robots is not None:
                site = in_full(site, ParsedFile(site.robots))
            self.add(site)
            screen.share(self._numbers.total(), total, "answered")
            sys.stdout.flush()

        query(task, session.sites._replace(tokens=tokens), handle_site)
        screen.clear()

    def add(self, found: Explanation) -> None:
        """Count and print one answer."""
        word = "not covered" if found.reason == "not_covered" else _WORDS[found.allowed]
        self._numbers[word] += 1
        code = GOOD if found.allowed else _CODES.get(found.reason, FOUND)
        self._code = max(self._code, code)
        if self.output.html is not None:
            self._kept.append(found)
        is_left_out = self.only_disallowed and word in ("allowed", "not covered")
        if self.by_rule is not None:
            self.by_rule.add(self._name, found)
        elif not (is_left_out or self.output.is_page_only):
            self._say(found)

    def _say(self, found: Explanation) -> None:
        screen = self.session.screen
        name = str(self._name) if self.has_many_files else ""
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import full_object, short_object

            shown = full_object(found) if self.fully else short_object(found)
            screen.say_json([{"file": self._name, **shown}])
        elif self.fully:
            if self._numbers.total() > 1:
                screen.say("")
            screen.say(*explained(found, name))
        else:
            prefix = f"{safe(name)}  " if name else ""
            if self.crawlers.each:
                prefix += f"{found.crawler:<{_WIDTH}}  "
            screen.say(short(found, prefix))

    def end(self) -> int:
        """Sum up, write the page if any, return the exit code."""
        numbers, output, screen = self._numbers, self.output, self.session.screen
        if self.by_rule is not None and output.as_json:
            screen.say_json(self.by_rule.objects())
        elif self.by_rule is not None:
            screen.say(*self.by_rule.lines())
        if numbers.total() > 1 and not output.as_json and not self.fully:
            total = count(numbers.total() - numbers["not covered"], "answer")
            line = f"{total}: {numbers['allowed']:,} allowed, {numbers['disallowed']:,} disallowed"
            for word in ("without an answer", "not covered"):
                line += f", {numbers[word]:,} {word}" if numbers[word] else ""
            screen.note(line)
        if self._kept:
            name = self._name or robots_url(self._kept[0].url)
            every = (each.robots for each in self._kept if each.robots is not None)
            file = next((ParsedFile(robots, name) for robots in every), None)
            from scrapy_robotspec.render.as_html import answers_page

            output.write_page(screen, answers_page(name, file, self._kept, now=time()))
        return self._code


def _check_sitemap(answers: Answers, name: str) -> int:
    """Decide about the URLs of a sitemap by a file, or by the robots.txt of its site."""
    from scrapy_robotspec.cli.sitemap import MAX_BYTES, parse_sitemap, read_all

    file = answers.file
    answers.output.check([file, name])
    site = next(filter(is_url, filter(None, (file, name))), None)
    top = None if is_url(name) else parse_sitemap(name, read_file(name, MAX_BYTES + 1))
    robots = None
    if file is not None and file != site:
        (source,) = open_sources([file], answers.session, single=True)
        robots = answers.parse(source)

    def covered(urls: Sequence[str]) -> Sequence[str]:
        """The URLs of the origin of the site; others are listed (LOC-02)."""
        nonlocal site
        site = site or urls[0]
        origin, own = origin_of(site), []
        for url in urls:
            if origin_of(url) == origin:
                own.append(url)
            else:
                answers.add(Explanation(url))
        return own

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
    return answers.end()


@options.command(_SHOW_EXAMPLES)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.crawler_options
@options.site_options
@options.output_options
def show_command(
    session: Session,
    files: Sequence[str],
    crawlers: CrawlerOptions,
    output: Output,
) -> int:
    """Show the groups and sitemaps of a robots.txt.

    With a crawler: everything that applies to it.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site.
    """
    output.check(files)
    sources = open_sources(files, session)
    output.check_single(sources)
    edition, screen = session.edition, session.screen
    for at, source in enumerate(sources):
        file = ParsedFile(source.parse(edition, screen), source.name)
        asked = crawlers.find([file], ()) if any(crawlers) else []
        if output.is_page_only:
            pass
        elif output.as_json:
            from scrapy_robotspec.render.as_json import file_objects

            screen.say_json(file_objects(source.name, file, asked))
        else:
            screen.say(*([""] if at else []), *file_lines(source.name, file, asked))
        if output.html is not None:
            from scrapy_robotspec.render.as_html import answers_page

            page = answers_page(source.name, file, [], now=time(), asked=asked)
            output.write_page(screen, page)
    return GOOD
