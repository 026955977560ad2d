"""``check``: allowed or not, one line for each URL."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.crawlers import check_tokens
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.fast_check import check_many
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.outputs import open_output
from scrapy_robotspec.cli.parallel import map_in_order
from scrapy_robotspec.cli.questions import (
    Question,
    answer_file,
    answer_sites,
    check_labels,
    exit_code,
    is_disallowed,
)
from scrapy_robotspec.cli.session import DISALLOWED, MISUSE, UNREACHABLE, SiteOptions
from scrapy_robotspec.cli.site_pages import check_one_origin, write_answers
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.as_text import short
from scrapy_robotspec.render.explanation import crawler_words
from scrapy_robotspec.render.text import count, safe
from scrapy_robotspec.render.usage import UsageAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import ParsedFile

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
@options.edition_option
@click.option(
    "--usage",
    metavar="LABEL",
    multiple=True,
    help="Also say whether pages may be used for this, such as train-ai. Again for each use.",
)
@click.option("--disallowed", is_flag=True, help="Show only what is disallowed.")
@options.timeout_option
@options.jobs_option
@options.output_options
def command(
    session: Session,
    file: str | None,
    url: Sequence[str],
    urls: str | None,
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    usage: Sequence[str],
    disallowed: bool,
    timeout: float,
    jobs: int | None,
    as_json: bool,
    html: str | None,
    force: bool,
) -> int:
    """Decide for each URL whether a crawler may fetch it, and by which line.

    FILE is a robots.txt: a path, - for standard input, a folder, or a URL. A URL that is not a
    robots.txt is a page: it and the URLs after it are judged by the robots.txt of their own sites.
    """
    output = open_output(html, [file, urls], force)
    listed = read_urls(url, urls, session.screen, file)
    question = Question(file, listed.urls, tokens, each_token, usage=check_labels(usage))
    report = _Report(session, as_json, disallowed, each_token, output, question.usage)
    asked = question.site_urls()
    if asked is None:
        if not listed.urls:
            raise MisuseError("give at least one URL or path, or a list with --urls LIST")
        _check_files(question, session, edition, timeout, jobs, report)
    else:
        _check_sites(asked, question, session, SiteOptions(None, edition, timeout), report)
    code = report.end()
    return code or (MISUSE if listed.bad_lines else 0)


def _check_sites(
    urls: list[str], question: Question, session: Session, asking: SiteOptions, report: _Report
) -> None:
    if not urls:
        raise MisuseError("give a FILE and at least one URL or path, or the URL of a page")
    if report.output is not None:
        check_one_origin(urls)
    answer_sites(urls, question, session, asking, report.tell)


def _check_files(
    question: Question,
    session: Session,
    edition_name: str | None,
    timeout: float,
    jobs: int | None,
    report: _Report,
) -> None:
    assert question.file is not None
    edition = session.edition(edition_name)
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, edition=edition_name, timeout=timeout)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        report.code = UNREACHABLE
        return
    if len(sources) > 1:
        if report.output is not None:
            raise MisuseError("--html is for one file")
        work = [(source, question, edition, session.default_tokens) for source in sources]
        report.many = True
        for name, found in map_in_order(_answer_one_of_many, work, jobs, session.screen):
            for each in found:
                report.tell(each, name)
        return
    file = sources[0].parsed(edition)
    note_unusual(sources[0].name, file.robots, session.screen)
    if question.each_token or question.usage or report.as_json or report.output is not None:
        report.file, report.name = file, sources[0].name
        if question.each_token:
            names = (crawler_words((token,), file.written) for token in file.tokens)
            report.width = min(_WIDEST, max(map(len, names), default=0))
        for each in answer_file(file, question, session.default_tokens, session.screen):
            report.tell(each)
        return
    crawler = check_tokens(question.tokens, edition) if question.tokens else session.default_tokens
    allowed, refused = check_many(
        file.robots, crawler, question.urls, session.screen, only_disallowed=report.disallowed
    )
    report.numbers.update({True: allowed, False: refused})
    report.code = DISALLOWED if refused else 0


def _answer_one_of_many(
    work: tuple[Source, Question, Edition, tuple[str, ...]],
) -> tuple[str, list[Explanation]]:
    source, question, edition, default = work
    return source.name, list(answer_file(source.parsed(edition), question, default))


@dataclass(slots=True)
class _Report:
    """Prints answers as they come, counts them, and keeps them for a page."""

    session: Session
    as_json: bool
    disallowed: bool
    with_crawler: bool
    output: Output | None
    usage: Sequence[str] = ()
    many: bool = False
    file: ParsedFile | None = None
    name: str = ""
    width: int = 0
    """Of the column of crawlers (characters)."""
    numbers: Counter[bool | None] = field(default_factory=Counter)
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Allowed pages, by label and its preference."""
    kept: list[Explanation] = field(default_factory=list)
    code: int = 0

    def tell(self, found: Explanation, name: str = "") -> None:
        """Print one answer; ``name``: the file, where there are many."""
        self.code = max(self.code, exit_code(found, self.usage))
        self._count_uses(found)
        self.numbers[found.allowed] += 1
        if self.output is not None:
            self.kept.append(found)
            if self.output.is_stdout:
                return
        if not self.disallowed or is_disallowed(found, self.usage):
            self.session.screen.say(self._line(found, name))

    def _line(self, found: Explanation, name: str) -> str:
        if self.as_json:
            from scrapy_robotspec.render.as_json import dumps, short_object

            shown = short_object(found, self.usage)
            return dumps({"file": name, **shown} if self.many else shown)
        prefix = f"{found.crawler:<{max(self.width, _WIDTH)}}  " if self.with_crawler else ""
        if self.many:
            prefix = f"{safe(name)}  {prefix}"
        return short(found, prefix, self.session.screen, self.usage)

    def _count_uses(self, found: Explanation) -> None:
        if found.allowed:
            answer = found.usage or UsageAnswer()
            self.uses.update((label, answer.preference(label)) for label in self.usage)

    def end(self) -> int:
        """Sum up, write the page, and return the exit code."""
        if self.numbers.total() > 1 and not self.as_json and not self._is_page_only():
            self.session.screen.sum_up(_summary(self.numbers))
            for label in self.usage:
                self.session.screen.sum_up(_use_summary(label, self.uses))
        if self.output is not None:
            write_answers(self.output, self.session, self.name, self.file, self.kept)
        return self.code

    def _is_page_only(self) -> bool:
        return self.output is not None and self.output.is_stdout


#: Min and max width of the column of crawlers (characters).
_WIDTH = len(crawler_words(()))
_WIDEST = 30


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


def _summary(numbers: Counter[bool | None]) -> str:
    total = count(numbers.total(), "answer")
    unknown = f", {numbers[None]:,} without an answer" if numbers[None] else ""
    return f"{total}: {numbers[True]:,} allowed, {numbers[False]:,} disallowed{unknown}"
