"""``explain``: why a URL is allowed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.outputs import open_output
from scrapy_robotspec.cli.questions import Question, answer_file, answer_sites, exit_code
from scrapy_robotspec.cli.session import UNREACHABLE, SiteOptions
from scrapy_robotspec.cli.show import show_files
from scrapy_robotspec.cli.site_pages import check_one_origin, write_answers
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.as_text import explained
from scrapy_robotspec.render.parsed_file import ParsedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Session
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
@options.edition_option
@options.timeout_option
@options.output_options
def command(
    session: Session,
    file: str | None,
    url: Sequence[str],
    urls: str | None,
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    timeout: float,
    as_json: bool,
    html: str | None,
    force: bool,
) -> int:
    """Show the group that applies and the rule that decides.

    Every other rule that matches is shown, too.

    FILE is a robots.txt: a path, - for standard input, or a URL. A URL that is not a robots.txt is
    a page: it is judged by the robots.txt of its site, and how that was obtained is shown. Without
    a URL: as the command show.
    """
    output = open_output(html, [file, urls], force)
    listed = read_urls(url, urls, session.screen, file)
    question = Question(file, listed.urls, tokens, each_token, fully=True)
    printer = _Printer(session, as_json, output)
    asked = question.site_urls()
    if asked is not None:
        if not asked:
            raise MisuseError("give a FILE, or the URL of a page")
        if output is not None:
            check_one_origin(asked)
        options_ = SiteOptions(None, edition, timeout, one_by_one=True)
        answer_sites(asked, question, session, options_, printer.handle)
        if output is not None:
            write_answers(output, session, "", None, printer.kept)
        return printer.code
    assert file is not None
    if not listed.urls:
        return show_files(
            session, [file], tokens, each_token, edition, timeout, as_json, output, default=True
        )
    note_origins(listed.urls, session.screen)
    sources = open_sources([file], session, edition=edition, timeout=timeout)
    if sources[0].note_missing(session.screen) and sources[0].is_unreachable:
        return UNREACHABLE
    if output is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    for source in sources:
        parsed = ParsedFile(source.parse(session.edition(edition)))
        note_unusual(source.name, parsed.robots, session.screen)
        printer.name = source.name if len(sources) > 1 else ""
        for found in answer_file(parsed, question, session.default_tokens, session.screen):
            printer.handle(found)
        if output is not None:
            write_answers(output, session, source.name, parsed, printer.kept)
    return printer.code


class _Printer:
    """Prints explanations as they come, and keeps them for a page."""

    def __init__(self, session: Session, as_json: bool, output: Output | None) -> None:
        self._screen = session.screen
        self._as_json = as_json
        self._output = output
        self._printed = 0
        self.name = ""
        """The file, where there are many."""
        self.kept: list[Explanation] = []
        self.code = 0

    def handle(self, found: Explanation) -> None:
        """Print one explanation."""
        self.code = max(self.code, exit_code(found))
        if self._output is not None:
            self.kept.append(found)
            if self._output.is_stdout:
                return
        if self._as_json:
            from scrapy_robotspec.render.as_json import dumps, full_object

            shown = full_object(found)
            self._screen.say(dumps({"file": self.name, **shown} if self.name else shown))
            return
        if self._printed:
            self._screen.say()
        self._printed += 1
        for line in explained(found, self._screen, self.name):
            self._screen.say(line)
