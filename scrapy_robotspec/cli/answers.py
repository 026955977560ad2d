"""Answers a question about URLs by files or by sites."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.exit_codes import UNREACHABLE, code_of, with_problems
from scrapy_robotspec.cli.inputs import (
    is_robots_txt,
    is_url,
    load_query,
    note_unusual,
    open_sources,
)
from scrapy_robotspec.cli.options import CrawlerOptions, check_tokens, find_crawlers
from scrapy_robotspec.cli.outputs import check_one_origin
from scrapy_robotspec.cli.urls import absolute, missing_urls, note_origins
from scrapy_robotspec.render.explanation import explain, explain_fully, explain_site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.options import Question
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session, SiteOptions, Visit
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.site import SiteAnswer


class Printer:
    """Prints answers as they come, and keeps them for a page."""

    def __init__(self, session: Session, question: Question, output: Output) -> None:
        self.session = session
        self.question = question
        self.output = output
        self.name = ""
        """The file, where there are many."""
        self.code = 0
        self.left_out = 0
        """Crawlers without an answer."""

    def handle(self, found: Explanation) -> None:
        """Print one answer."""
        self.code = max(self.code, code_of(found, self.question.usage))
        self.output.keep(found)
        if not self.output.is_page_only:
            self.say(found)

    def say(self, found: Explanation) -> None:
        """Print one answer on standard output."""
        raise NotImplementedError

    def end(self, name: str, robots: RobotsTxt | None) -> int:
        """Write the page, if there is one, and return the exit code."""
        self.output.write_answers(self.session, name, robots)
        return with_problems(self.code, self.left_out)


def answer(printer: Printer, sites: SiteOptions) -> int:
    """Answer a question by files or sites; returns the exit code.

    Raises :class:`MisuseError` for a question that cannot be answered.
    """
    question, session = printer.question, printer.session
    asked = _asked_sites(question)
    if asked is not None:
        if not asked:
            raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
        if printer.output.page is not None:
            check_one_origin(asked)
        answer_sites(asked, printer, sites)
        return printer.end("", None)
    assert question.file is not None
    if not question.urls:
        raise missing_urls(question.file)
    edition = session.edition(sites.edition)
    question.crawlers.crawler(edition, ())  # a wrong token is an error before a file is read
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, sites)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if printer.output.page is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    for source in sources:
        robots = source.parse(edition)
        note_unusual(source.name, robots, session.screen)
        printer.name = source.name if len(sources) > 1 else ""
        answer_file(robots, question.urls, printer)
    return printer.end(sources[0].name, robots)


def _asked_sites(question: Question) -> list[str] | None:
    """The URLs to decide by their own sites, else None.

    The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
    Raises :class:`MisuseError` for a path that belongs to no site.
    """
    if question.file is None:
        return absolute(question.urls, None)
    if not is_url(question.file):
        return None
    if not is_robots_txt(question.file):
        return absolute([question.file, *question.urls], None)
    asked = absolute(question.urls, question.file)
    return asked if _same_site(question.file, asked) else None


def _same_site(file: str, urls: Sequence[str]) -> bool:
    from scrapy_robotspec.access.origin import Origin

    return bool(urls) and all(Origin.of(url) == Origin.of(file) for url in urls)


def answer_file(robots: RobotsTxt, urls: Sequence[str | bytes], printer: Printer) -> None:
    """Print the answers of one file, by crawler, then URL.

    Raises :class:`MisuseError` for a wrong token.
    """
    from scrapy_robotspec.render.parsed_file import ParsedFile

    question, session = printer.question, printer.session
    options, default = question.crawlers, session.default_tokens
    file = ParsedFile(robots) if question.fully or options.each else None
    if file is not None:
        crawlers, left_out = find_crawlers(options, [file], default, session.screen)
        printer.left_out += left_out
    else:
        crawlers = [options.crawler(robots.edition, default) or ()]
    names = file.written if file is not None else None
    states_usage = bool(question.usage) and (file is None or file.states_usage)
    group = None
    for tokens, url in product(crawlers, urls):
        if file is not None and question.fully:
            if group is None or group.tokens != tokens:
                group = file.group_for(tokens)
            printer.handle(explain_fully(file, url, tokens, group))
            continue
        found = explain(robots, url, tokens, names=names)
        printer.handle(_with_usage(found, robots, url) if states_usage else found)


def answer_sites(
    urls: Sequence[str], printer: Printer, options: SiteOptions, visit: Visit | None = None
) -> None:
    """Print the answers of sites, as they come; then ``visit`` sites.

    Raises :class:`MisuseError`.
    """
    question, session = printer.question, printer.session
    query = load_query(session)
    question.crawlers.check()
    if question.crawlers.tokens:
        tokens = check_tokens(question.crawlers.tokens, session.edition(options.edition))
        options = options._replace(tokens=tokens)
    handled = 0

    def handle_site(site: SiteAnswer) -> None:
        nonlocal handled
        for each in _for_crawlers(site, printer) if question.crawlers.each else [site]:
            found = explain_site(each, fully=question.fully)
            printer.handle(_with_usage(found, each.robots, each.url) if question.usage else found)
        handled += 1
        session.screen.share(handled, len(urls), "answered")
        session.screen.out.flush()

    query(urls, options._replace(one_by_one=question.fully), handle_site, visit)
    session.screen.clear()


def _for_crawlers(site: SiteAnswer, printer: Printer) -> Iterator[SiteAnswer]:
    """The answer for each crawler that the site's file names, and others."""
    from scrapy_robotspec.render.parsed_file import ParsedFile

    decision, robots = site.decision, site.robots
    if decision is None or robots is None:
        yield site._replace(tokens=())
        return
    each = CrawlerOptions(each=True)
    crawlers, left_out = find_crawlers(each, [ParsedFile(robots)], None, printer.session.screen)
    printer.left_out += left_out
    for tokens in crawlers:
        verdict = robots.explain_served(site.url, tokens)
        changed = decision._replace(allowed=verdict.allowed, reason=verdict.reason, verdict=verdict)
        yield site._replace(tokens=tokens, decision=changed)


def _with_usage(found: Explanation, robots: RobotsTxt | None, url: str | bytes) -> Explanation:
    if robots is None or not found.allowed:
        return found
    from scrapy_robotspec.render.usage import usage_answer

    return found._replace(usage=usage_answer(robots, url, found.tokens))
