"""``explain``: why a URL is allowed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import answer_file, answer_sites, exit_code
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.question import Question
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.cli.show import show_files
from scrapy_robotspec.cli.site_pages import check_one_origin, write_answers
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.as_text import explained
from scrapy_robotspec.render.parsed_file import ParsedFile

if TYPE_CHECKING:
    from scrapy_robotspec.cli.crawlers import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output, OutputOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions
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
    asked = question.site_urls()
    if asked is not None:
        if not asked:
            raise MisuseError("give a FILE, or the URL of a page")
        if shown.page is not None:
            check_one_origin(asked)
        one_by_one = sites._replace(one_by_one=True)
        answer_sites(asked, question, session, one_by_one, printer.handle)
        printer.write_page("", None)
        return printer.code
    assert file is not None
    if not read.urls:
        default = session.default_tokens
        return show_files(session, [file], crawlers, sites, shown, default=default)
    note_origins(read.urls, session.screen)
    sources = open_sources([file], session, sites)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if shown.page is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    for source in sources:
        parsed = ParsedFile(source.parse(session.edition(sites.edition)))
        note_unusual(source.name, parsed.robots, session.screen)
        printer.name = source.name if len(sources) > 1 else ""
        for found in answer_file(parsed, question, session.default_tokens, session.screen):
            printer.handle(found)
        printer.write_page(source.name, parsed)
    return printer.code


class _Printer:
    """Prints explanations as they come, and keeps them for a page."""

    def __init__(self, session: Session, output: Output) -> None:
        self._session = session
        self._output = output
        self._printed = 0
        self.name = ""
        """The file, where there are many."""
        self._kept: list[Explanation] = []
        self.code = 0

    def handle(self, found: Explanation) -> None:
        """Print one explanation."""
        self.code = max(self.code, exit_code(found))
        if self._output.page is not None:
            self._kept.append(found)
        if self._output.is_page_only:
            return
        screen = self._session.screen
        if self._output.as_json:
            from scrapy_robotspec.render.as_json import dumps, full_object

            shown = full_object(found)
            screen.say(dumps({"file": self.name, **shown} if self.name else shown))
            return
        if self._printed:
            screen.say()
        self._printed += 1
        for line in explained(found, screen, self.name):
            screen.say(line)

    def write_page(self, name: str, file: ParsedFile | None) -> None:
        """Write the page of all explanations, if there is one."""
        if self._output.page is not None:
            write_answers(self._output.page, self._session, name, file, self._kept)
