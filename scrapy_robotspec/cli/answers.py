"""Answers a question about URLs by files or by sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import UNREACHABLE, MisuseError, code_of
from scrapy_robotspec.cli.inputs import (
    is_url,
    load_query,
    open_sources,
)
from scrapy_robotspec.cli.options import CrawlerOptions, find_crawlers
from scrapy_robotspec.cli.urls import absolute, missing_urls, note_origins
from scrapy_robotspec.protocol.paths import is_robots_txt
from scrapy_robotspec.render.as_html import PageAnswers
from scrapy_robotspec.render.as_text import explained, short
from scrapy_robotspec.render.explanation import explain, explain_fully, explain_site
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session, SiteOptions, Visit
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.site import SiteAnswer

#: Width of the column of crawlers (characters).
_WIDTH = 30


class Question(NamedTuple):
    """The question of a command line about URLs."""

    file: str | None
    urls: Sequence[str | bytes]
    crawlers: CrawlerOptions
    sites: SiteOptions
    fully: bool = False
    """Whether losing rules and groups are wanted, too."""
    disallowed: bool = False
    """Whether only the disallowed answers are wanted."""


class Answers:
    """Prints and counts answers, and keeps them for a page."""

    def __init__(self, session: Session, question: Question, output: Output) -> None:
        self.session = session
        self.question = question
        self.output = output
        self.not_covered = 0
        """URLs that another robots.txt governs."""
        self._name = ""  # of the file, where there are many
        self._code = 0
        self._kept = PageAnswers()

    def answer(self) -> int:
        """Answer the question by files or sites; returns the exit code.

        Raises :class:`MisuseError` for a question that cannot be answered.
        """
        question, session = self.question, self.session
        asked = self._asked_sites()
        if asked is not None:
            if not asked:
                raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
            self.output.check_sites(asked)
            self.by_sites(lambda query: query.decide(asked), len(asked))
            return self.end("", None)
        assert question.file is not None
        if not question.urls:
            raise missing_urls(question.file)
        edition = session.edition(question.sites.edition)
        question.crawlers.crawler(edition, ())  # a wrong token is an error before a file is read
        note_origins(question.urls, session.screen)
        sources = open_sources([question.file], session, question.sites)
        if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
            return UNREACHABLE
        self.output.check_files(sources)
        for source in sources:
            robots = source.parse(edition, session.screen)
            self._name = source.name if len(sources) > 1 else ""
            self.by_file(robots, question.urls)
        return self.end(sources[0].name, robots)

    def _asked_sites(self) -> list[str] | None:
        """The URLs to decide by their own sites, else None.

        The URL of a robots.txt is a file; any other URL in its place is a page to decide about.
        Raises :class:`MisuseError` for a path that belongs to no site.
        """
        file, urls = self.question.file, self.question.urls
        if file is not None and not is_url(file):
            return None
        if file is None or not is_robots_txt(file):
            return absolute(urls if file is None else [file, *urls], None)
        if self.question.crawlers.each:
            return None
        from scrapy_robotspec.access.origin import Origin

        asked = absolute(urls, file)
        is_own = bool(asked) and {Origin.of(url) for url in asked} == {Origin.of(file)}
        return asked if is_own else None

    def by_file(self, robots: RobotsTxt, urls: Sequence[str | bytes]) -> None:
        """Print the answers of one file, by crawler, then URL.

        Raises :class:`MisuseError` for a wrong token.
        """
        options, default = self.question.crawlers, self.session.default_tokens
        if not (self.question.fully or options.each):
            tokens = options.crawler(robots.edition, default) or ()
            for url in urls:
                self.add(explain(robots, url, tokens))
            return
        from scrapy_robotspec.render.parsed_file import ParsedFile

        file = ParsedFile(robots)
        for tokens in find_crawlers(options, [file], default):
            group = file.group_for(tokens) if self.question.fully else None
            for url in urls:
                if group is not None:
                    self.add(explain_fully(file, url, tokens, group))
                else:
                    self.add(explain(robots, url, tokens, names=file.written))

    def by_sites(self, visit: Visit, total: int = 0) -> None:
        """Print the answers of sites, as they come.

        ``total``: their number, if it is known. Raises :class:`MisuseError`.
        """
        question, session = self.question, self.session
        if question.crawlers.each and (question.file is None or is_url(question.file)):
            raise MisuseError("--each-token is for the crawlers of a file: give its URL as FILE")
        query = load_query(session)
        tokens = question.crawlers.crawler(session.edition(question.sites.edition), None)
        options = question.sites._replace(tokens=tokens)
        handled = 0

        def handle_site(site: SiteAnswer) -> None:
            nonlocal handled
            self.add(explain_site(site, fully=question.fully))
            handled += 1
            session.screen.share(handled, total, "answered")
            session.screen.out.flush()

        query(visit, options, handle_site)
        session.screen.clear()

    def add(self, found: Explanation) -> None:
        """Print one answer."""
        self._code = max(self._code, code_of(found))
        self._kept.add(found)
        if self.question.disallowed and found.allowed:
            return
        if not self.output.is_page_only:
            for line in self._lines(found):
                self.session.screen.say(line)

    def _lines(self, found: Explanation) -> Iterator[str]:
        question, paint = self.question, self.session.screen.paint
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import dumps, full_object, short_object

            shown = full_object(found) if question.fully else short_object(found)
            yield dumps({"file": self._name, **shown} if self._name else shown)
        elif question.fully:
            if self._kept.numbers.total() > 1:
                yield ""
            yield from explained(found, paint, self._name)
        else:
            prefix = f"{safe(self._name)}  " if self._name else ""
            if question.crawlers.each:
                prefix += f"{found.crawler:<{_WIDTH}}  "
            yield short(found, prefix, paint)

    def end(self, name: str, robots: RobotsTxt | None) -> int:
        """Sum up, write the page if any, return the exit code."""
        numbers, screen = self._kept.numbers, self.session.screen
        if numbers.total() > 1 and not self.output.as_json and not self.question.fully:
            total = count(numbers.total(), "answer")
            parts = [f"{total}: {numbers[True]:,} allowed", f"{numbers[False]:,} disallowed"]
            if numbers[None]:
                parts.append(f"{numbers[None]:,} without an answer")
            if self.not_covered:
                parts.append(f"{self.not_covered:,} not covered")
            screen.sum_up(", ".join(parts))
        self.output.write(self.session, name, robots, self._kept)
        return self._code
