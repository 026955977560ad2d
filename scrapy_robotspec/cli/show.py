"""``show``: what a file contains for a crawler, or for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import UNREACHABLE
from scrapy_robotspec.cli.inputs import open_sources
from scrapy_robotspec.cli.options import find_crawlers
from scrapy_robotspec.render.as_html import PageAnswers
from scrapy_robotspec.render.as_text import crawler_summary, file_summary
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Crawler, Session, SiteOptions

_EXAMPLES = """\
  robotspec show robots.txt
  robotspec show robots.txt --token GPTBot
  robotspec show https://example.com/ --html page.html"""


@options.command("show", _EXAMPLES)
@options.files_argument
@options.crawler_options
@options.site_options
@options.output_options
def command(
    session: Session,
    files: Sequence[str],
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    output: Output,
) -> int:
    """Show the groups and sitemaps of a robots.txt.

    With a crawler: everything that applies to it.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site.
    """
    output.check(files)
    sources = open_sources(files, session, sites)
    output.check_files(sources)
    edition = session.edition(sites.edition)
    code = 0
    for at, source in enumerate(sources):
        if at and not output.as_json:
            session.screen.say()
        if source.note_missing(session.screen):
            code = max(code, UNREACHABLE if source.is_unreachable else 0)
            continue
        file = ParsedFile(source.parse(edition, session.screen))
        asked: list[Crawler] = []
        if any(crawlers) or output.as_json:
            asked = find_crawlers(crawlers, [file], ())
        if not output.is_page_only:
            (_say_json if output.as_json else _say)(session, source, file, asked, len(sources) > 1)
        output.write(session, source.name, file.robots, PageAnswers(), asked)
    return code


def _say(
    session: Session, source: Source, file: ParsedFile, asked: Sequence[Crawler], many: bool
) -> None:
    screen = session.screen
    screen.say(screen.paint("strong", f"{safe(source.name)}: {file.summary()}"))
    if not asked:
        for line in file_summary(file, screen.paint):
            screen.say(line)
    for tokens in asked:
        screen.say()
        for line in crawler_summary(file, file.group_for(tokens), screen.paint):
            screen.say(line)


def _say_json(
    session: Session, source: Source, file: ParsedFile, asked: Sequence[Crawler], many: bool
) -> None:
    from scrapy_robotspec.render.as_json import dumps, group_object, rule_object

    for tokens in asked:
        group = file.group_for(tokens)
        shown = {**group_object(group), "rules": [rule_object(rule) for rule in group.rules]}
        shown["sitemaps"] = list(file.robots.sitemaps)
        session.screen.say(dumps({"file": source.name, **shown} if many else shown))
