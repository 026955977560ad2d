"""``show``: what a file contains for a crawler, or for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.crawlers import crawlers
from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import note_unusual, open_sources
from scrapy_robotspec.cli.outputs import open_output
from scrapy_robotspec.cli.session import UNREACHABLE
from scrapy_robotspec.render.as_text import crawler_summary, file_summary
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.cli.inputs import Source
    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Crawler, Session

_EXAMPLES = """\
  robotspec show robots.txt
  robotspec show robots.txt --token GPTBot
  robotspec show https://example.com/ --html page.html"""


@options.command("show", _EXAMPLES)
@options.files_argument
@options.crawler_options
@options.edition_option
@options.timeout_option
@options.output_options
def command(
    session: Session,
    files: Sequence[str],
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    timeout: float,
    as_json: bool,
    html: str | None,
    force: bool,
) -> int:
    """Show the groups and sitemaps of a robots.txt.

    With a crawler: everything that applies to it.

    FILE is a path, - for standard input, a folder, or a URL, which stands for the robots.txt of
    its site.
    """
    output = open_output(html, files, force)
    return show_files(session, files, tokens, each_token, edition, timeout, as_json, output)


def show_files(
    session: Session,
    names: Sequence[str],
    tokens: Sequence[str],
    each_token: bool,
    edition: str | None,
    timeout: float,
    as_json: bool,
    output: Output | None,
    *,
    default: bool = False,
) -> int:
    """Show files; ``default``: for the default crawler, where no other is given."""
    sources = open_sources(names, session, edition=edition, timeout=timeout)
    if output is not None and len(sources) > 1:
        raise MisuseError("--html is for one file")
    code = 0
    for at, source in enumerate(sources):
        if at and not as_json:
            session.screen.say()
        if source.note_missing(session.screen):
            code = max(code, UNREACHABLE if source.is_unreachable else 0)
            continue
        file = ParsedFile(source.parse(session.edition(edition)))
        note_unusual(source.name, file.robots, session.screen)
        asked: list[Crawler] = []
        each = each_token or (as_json and not tokens and not default)
        if tokens or each or default:
            asked = crawlers(tokens, each, session.default_tokens, [file])
        if output is None or not output.is_stdout:
            (_say_json if as_json else _say)(session, source, file, asked, len(sources) > 1)
        if output is not None:
            from scrapy_robotspec.render import as_html

            page = as_html.answers_page(source.name, file, [], asked=asked, now=session.now)
            output.write(page, session.screen)
    return code


def _say(
    session: Session, source: Source, file: ParsedFile, asked: Sequence[Crawler], many: bool
) -> None:
    screen = session.screen
    screen.say(screen.paint("strong", f"{safe(source.name)}: {file.summary()}"))
    if not asked:
        for line in file_summary(file, screen):
            screen.say(line)
    for tokens in asked:
        screen.say()
        for line in crawler_summary(file, file.group_for(tokens), screen):
            screen.say(line)


def _say_json(
    session: Session, source: Source, file: ParsedFile, asked: Sequence[Crawler], many: bool
) -> None:
    from scrapy_robotspec.render.as_json import dumps, group_object, rule_object

    for tokens in asked:
        group = file.group_for(tokens)
        shown = {**group_object(group), "rules": [rule_object(rule) for rule in group.rules]}
        shown["sitemaps"] = list(file.sitemaps)
        session.screen.say(dumps({"file": source.name, **shown} if many else shown))
