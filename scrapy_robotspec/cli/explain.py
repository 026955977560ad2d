"""``explain``: why a URL is allowed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.answers import Printer, answer
from scrapy_robotspec.cli.exit_codes import with_problems
from scrapy_robotspec.cli.inputs import is_robots_txt, is_url
from scrapy_robotspec.cli.options import Question
from scrapy_robotspec.cli.show import show_files
from scrapy_robotspec.cli.urls import read_urls
from scrapy_robotspec.render.as_text import explained

if TYPE_CHECKING:
    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import OutputOptions
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
    if file is not None and not read.urls and (not is_url(file) or is_robots_txt(file)):
        default = session.default_tokens
        code = show_files(session, [file], crawlers, sites, shown, default=default)
    else:
        question = Question(file, read.urls, crawlers, fully=True)
        code = answer(_Printer(session, question, shown), sites)
    return with_problems(code, read.bad_lines)


class _Printer(Printer):
    """Prints explanations."""

    _printed = 0

    def say(self, found: Explanation) -> None:
        """Print one explanation, with an empty line between two."""
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
