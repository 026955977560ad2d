"""``editions``: where the editions disagree."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import FOUND, GOOD
from scrapy_robotspec.cli.inputs import open_sources
from scrapy_robotspec.cli.options import find_crawlers, in_edition
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.render.as_json import verdict_object
from scrapy_robotspec.render.explanation import explain
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count, paint, safe, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions, Tokens
    from scrapy_robotspec.cli.urls import UrlOptions
    from scrapy_robotspec.protocol.groups import Group
    from scrapy_robotspec.render.explanation import Explanation

_EXAMPLES = """\
  robotspec editions robots.txt /page --token examplebot
  robotspec editions robots.txt --each-token"""

#: Max paths for one crawler.
MAX_PATHS = 2000
#: Max paths for all crawlers together where no URL is given; each crawler gets one in any case.
_MOST_QUESTIONS = 20_000

#: The verdicts of every edition about one URL, in the order of EDITIONS.
Row = tuple["Explanation", ...]


@options.command("editions", _EXAMPLES)
@click.argument("file", metavar="FILE")
@options.urls_options
@options.crawler_options
@options.flag("--all show_all", "Also show where they agree.")
@options.timeout_options
@options.json_option
def command(
    session: Session,
    file: str,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    show_all: bool,
    sites: SiteOptions,
    as_json: bool,
) -> int:
    """Show where the editions of the specification disagree.

    FILE is a path, - for standard input, or a URL, which stands for the robots.txt of its site.
    Without a URL: for paths made from the rules.
    """
    screen = session.screen
    read = read_urls(urls, screen, file)
    note_origins(read, screen)
    (given,) = open_sources([file], session, sites, single=True)
    body = given.read(max(edition.parsing_limit for edition in EDITIONS.values()) + 1)
    source = given._replace(path=None, body=body)  # a pipe can be read once
    files = [
        ParsedFile(source.parse(edition, None if at else screen))
        for at, edition in enumerate(EDITIONS.values())
    ]
    asked = find_crawlers(crawlers, files, session.default_tokens)
    questions = product(asked, read) if read else _sampled(files, asked)
    rows = [
        tuple(explain(file, url, in_edition(crawler, file)) for file in files)
        for crawler, url in questions
    ]
    split = [row for row in rows if disagree(row)]
    shown = rows if show_all else split
    if as_json:
        screen.say_json(map(_object, shown))
    else:
        for row in shown:
            screen.say(*_lines(row))
        total = count(len(rows), "question")
        screen.note(f"the editions disagree about {len(split):,} of {total}")
    return FOUND if split else GOOD


def _sampled(files: Sequence[ParsedFile], asked: Sequence[Tokens]) -> Iterator[tuple[Tokens, str]]:
    """Each crawler with paths made from the rules that an edition follows for it."""
    most = min(MAX_PATHS, max(1, _MOST_QUESTIONS // len(asked)))
    for crawler in asked:
        found = [file.group_for(in_edition(crawler, file)) for file in files]
        groups = (group for each in found for group in each.groups)
        yield from ((crawler, path) for path in sample_paths(groups, most))


def sample_paths(groups: Iterable[Group], most: int = MAX_PATHS) -> list[str]:
    """Distinct paths made from the rules of groups, ``/`` first.

    Each rule yields a path that it matches and one that it does not, so that two readings of a file
    usually differ on one of them if they differ at all. ``most``: max number of paths.
    """
    paths: dict[str, None] = {"/": None}
    for group in groups:
        for rule in group.rules:
            paths.update(dict.fromkeys(_around(rule.pattern)))
            if len(paths) > most:
                return _whole(list(paths)[:most])
    return _whole(paths)


def _around(pattern: str) -> Iterator[str]:
    slashed = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    plain = slashed.removesuffix("$")
    for star in ("", "x", "x/y"):
        path = plain.replace("*", star)
        path = path if path.startswith("/") else f"/{path}"
        yield path
        yield f"{path}x"
        if path.endswith("/"):
            yield path.rstrip("/") or "/"
        if "*" not in plain:
            break
    yield from (slashed for special in "*$" if special in slashed[1:])


def _whole(paths: Iterable[str]) -> list[str]:
    # Two slashes begin a host, so such a path needs one before it.
    urls = (f"http://example.com{path}" if path.startswith("//") else path for path in paths)
    return [url for url in urls if "#" not in url]


def disagree(row: Row) -> bool:
    """Whether one edition allows what another disallows."""
    return len({one.allowed for one in row}) > 1


def _lines(row: Row) -> Iterator[str]:
    yield f"{safe(row[0].url)}  {paint('faint', f'({row[0].crawler})')}"
    alike: dict[tuple[bool | None, str], list[str]] = {}
    for name, one in zip(EDITIONS, row, strict=True):
        alike.setdefault((one.allowed, one.detail), []).append(name)
    for (allowed, reason), names in alike.items():
        yield f"  {verdict_word(allowed)}  {', '.join(names)}  {paint('faint', f'({reason})')}"


def _object(row: Row) -> dict[str, object]:
    pairs = zip(EDITIONS, row, strict=True)
    return {
        "url": row[0].url,
        "tokens": row[0].tokens,
        "agree": not disagree(row),
        "editions": {name: verdict_object(one) for name, one in pairs},
    }
