"""``check`` in every form: sites, many files, many crawlers, JSON, pages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.answers import (
    answer_file,
    answer_sites,
    exit_code,
    is_disallowed,
)
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.fast_check import summary
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.outputs import Output
from scrapy_robotspec.cli.parallel import map_in_order
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.cli.site_pages import check_one_origin, write_answers
from scrapy_robotspec.cli.urls import missing_urls, note_origins
from scrapy_robotspec.render.as_text import short
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import safe
from scrapy_robotspec.render.usage import UsageAnswer
from scrapy_robotspec.render.wording import crawler_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.question import Question
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.explanation import Explanation

#: Min and max width of the column of crawlers (characters).
_WIDTH = len(crawler_words(()))
_WIDEST = 30


def check_with_report(
    session: Session,
    question: Question,
    sites: SiteOptions,
    output: Output,
    *,
    disallowed: bool,
    jobs: int | None,
) -> int:
    """``check`` in every form."""
    report = _Report(session, question, output, disallowed)
    site_urls = question.site_urls()
    if site_urls is not None:
        if not site_urls:
            raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
        if output.page is not None:
            check_one_origin(site_urls)
        answer_sites(site_urls, question, session, sites, report.handle)
        return report.end()
    assert question.file is not None
    if not question.urls:
        raise missing_urls(question.file)
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, sites)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if output.page is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    _report_files(report, sources, session.edition(sites.edition), jobs)
    return report.end()


def check_many_files(
    session: Session,
    sources: Sequence[Source],
    question: Question,
    edition: Edition,
    disallowed: bool,
    jobs: int | None,
) -> int:
    """``check`` of many files for one crawler, as text."""
    report = _Report(session, question, Output(as_json=False, page=None), disallowed)
    _report_files(report, sources, edition, jobs)
    return report.end()


def _report_files(
    report: _Report, sources: Sequence[Source], edition: Edition, jobs: int | None
) -> None:
    session, question = report.session, report.question
    if len(sources) > 1:
        report.many = True
        work = [(source, question, edition, session.default_tokens) for source in sources]
        for name, found in map_in_order(_answer_one_of_many, work, jobs, session.screen):
            for each in found:
                report.handle(each, name)
        return
    robots = sources[0].parse(edition)
    note_unusual(sources[0].name, robots, session.screen)
    report.file, report.name = ParsedFile(robots), sources[0].name
    if question.crawlers.each:
        written = report.file.written
        names = (crawler_words((token,), written) for token in report.file.tokens)
        report.width = min(_WIDEST, max(map(len, names), default=0))
    for each in answer_file(report.file, question, session.default_tokens, session.screen):
        report.handle(each)


def _answer_one_of_many(
    work: tuple[Source, Question, Edition, tuple[str, ...]],
) -> tuple[str, list[Explanation]]:
    source, question, edition, default = work
    return source.name, list(answer_file(ParsedFile(source.parse(edition)), question, default))


class _Report:
    """Prints answers as they come, counts them, and keeps them for a page."""

    def __init__(
        self, session: Session, question: Question, output: Output, disallowed: bool
    ) -> None:
        self.session = session
        self.question = question
        self.output = output
        self.disallowed = disallowed
        self.many = False
        self.file: ParsedFile | None = None
        self.name = ""
        self.width = 0
        """Width of the column of crawlers (characters)."""
        self.numbers: Counter[bool | None] = Counter()
        self.uses: Counter[tuple[str, str]] = Counter()
        """Allowed pages, by label and its preference."""
        self.kept: list[Explanation] = []
        self.code = 0

    def handle(self, found: Explanation, name: str = "") -> None:
        """Print one answer; ``name``: the file, where there are many."""
        self.code = max(self.code, exit_code(found, self.question.usage))
        self._count_uses(found)
        self.numbers[found.allowed] += 1
        if self.output.page is not None:
            self.kept.append(found)
        if self.output.is_page_only:
            return
        if not self.disallowed or is_disallowed(found, self.question.usage):
            self.session.screen.say(self._line(found, name))

    def _line(self, found: Explanation, name: str) -> str:
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import dumps, short_object

            shown = short_object(found, self.question.usage)
            return dumps({"file": name, **shown} if self.many else shown)
        prefix = (
            f"{found.crawler:<{max(self.width, _WIDTH)}}  " if self.question.crawlers.each else ""
        )
        if self.many:
            prefix = f"{safe(name)}  {prefix}"
        return short(found, prefix, self.session.screen, self.question.usage)

    def _count_uses(self, found: Explanation) -> None:
        if found.allowed:
            answer = found.usage or UsageAnswer()
            self.uses.update((label, answer.preference(label)) for label in self.question.usage)

    def end(self) -> int:
        """Sum up, write the page, and return the exit code."""
        if self.numbers.total() > 1 and not (self.output.as_json or self.output.is_page_only):
            self.session.screen.sum_up(summary(self.numbers))
            for label in self.question.usage:
                self.session.screen.sum_up(_use_summary(label, self.uses))
        if self.output.page is not None:
            write_answers(self.output.page, self.session, self.name, self.file, self.kept)
        return self.code


def _use_summary(label: str, uses: Counter[tuple[str, str]]) -> str:
    parts = (
        f"{uses[label, preference]:,} {word}"
        for preference, word in (
            ("allow", "allowed"),
            ("disallow", "disallowed"),
            ("unknown", "unknown"),
        )
    )
    return f"{label}: {', '.join(parts)}"
