"""``explain``: why a URL is allowed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import answer_file, answer_sites, asked_sites
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.exit_codes import UNREACHABLE, code_of, with_problems
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.options import Question
from scrapy_robotspec.cli.outputs import check_one_origin
from scrapy_robotspec.cli.show import show_files
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.as_text import explained

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output, OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation

_EXAMPLES = """\
  robotspec explain robots.txt /private/page --token GPTBot
  robotspec explain robots.txt --token GPTBot
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
    output: OutputOptions,
) -> int:
    """Show the group that applies and the rule that decides.

    Every other rule that matches is shown, too.

    FILE is a robots.txt: a path, - for standard input, or a URL. A URL that is not a robots.txt is
    a page: it is judged by the robots.txt of its site, and how that was obtained is shown. Without
    a URL: as the command show.
    """
    shown = output.open([file, urls.listed])
    read = read_urls(urls, session.screen, file)
    question = Question(file, read.urls, crawlers, fully=True)
    printer = _Printer(session, shown)
    asked = asked_sites(question)
    if asked is not None:
        code = _explain_sites(printer, question, asked, sites)
    elif file is not None and not read.urls:
        default = session.default_tokens
        code = show_files(session, [file], crawlers, sites, shown, default=default)
    else:
        code = _explain_files(printer, question, sites)
    return with_problems(code, read.bad_lines)


def _explain_sites(
    printer: _Printer, question: Question, asked: Sequence[str], sites: SiteOptions
) -> int:
    if not asked:
        raise MisuseError("give a FILE, or the URL of a page")
    if printer.output.page is not None:
        check_one_origin(asked)
    one_by_one = sites._replace(one_by_one=True)
    answer_sites(asked, question, printer.session, one_by_one, printer.handle)
    return printer.end("", None)


def _explain_files(printer: _Printer, question: Question, sites: SiteOptions) -> int:
    session = printer.session
    assert question.file is not None
    note_origins(question.urls, session.screen)
    sources = open_sources([question.file], session, sites)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if printer.output.page is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    left_out = 0
    for source in sources:
        robots = source.parse(session.edition(sites.edition))
        note_unusual(source.name, robots, session.screen)
        printer.name = source.name if len(sources) > 1 else ""
        left_out += answer_file(robots, question, session, printer.handle)
    return with_problems(printer.end(sources[0].name, robots), left_out)


class _Printer:
    """Prints explanations as they come, and keeps them for a page."""

    def __init__(self, session: Session, output: Output) -> None:
        self.session = session
        self.output = output
        self.name = ""
        """The file, where there are many."""
        self._printed = 0
        self._code = 0

    def handle(self, found: Explanation) -> None:
        """Print one explanation."""
        self._code = max(self._code, code_of(found))
        self.output.keep(found)
        if self.output.is_page_only:
            return
        screen = self.session.screen
        if self.output.as_json:
            from scrapy_robotspec.render.as_json import dumps, full_object

            shown = full_object(found)
            screen.say(dumps({"file": self.name, **shown} if self.name else shown))
            return
        if self._printed:
            screen.say()
        self._printed += 1
        for line in explained(found, screen.paint, self.name):
            screen.say(line)

    def end(self, name: str, robots: RobotsTxt | None) -> int:
        """Write the page, if there is one, and return the exit code."""
        self.output.write_answers(self.session, name, robots)
        return self._code
