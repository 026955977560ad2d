"""``diff``: what a new version of a file changes, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.errors import FOUND, GOOD, UNREACHABLE, MisuseError, with_problems
from scrapy_robotspec.cli.inputs import open_sources
from scrapy_robotspec.cli.options import find_crawlers
from scrapy_robotspec.cli.urls import note_origins, read_urls
from scrapy_robotspec.render.as_json import dumps, rule_object, verdict_object
from scrapy_robotspec.render.changes import find_changes
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count, crawler_words, safe, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_robotspec.cli.options import CrawlerOptions
    from scrapy_robotspec.cli.session import Session, SiteOptions
    from scrapy_robotspec.cli.urls import UrlOptions
    from scrapy_robotspec.render.changes import Change, FileChanges, Flip
    from scrapy_robotspec.render.text import Paint

#: Max crawlers in one heading.
_MOST_NAMES = 8

_EXAMPLES = """\
  robotspec diff old.txt new.txt
  robotspec diff old.txt new.txt --urls urls.txt
  robotspec diff old.txt https://example.com/robots.txt --token examplebot"""


@options.command("diff", _EXAMPLES)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@options.urls_options
@options.crawler_options
@options.site_options
@options.json_option
def command(
    session: Session,
    old: str,
    new: str,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    sites: SiteOptions,
    as_json: bool,
) -> int:
    """Show the rules that a new version adds and removes, by crawler.

    Differences in spelling, order, comments and line numbers are left out. With URLs: also which
    of them change. OLD and NEW are files, - for standard input, or URLs, which stand for the
    robots.txt of their sites. Without --token: for every crawler that either file names, and for
    any other.
    """
    screen = session.screen
    edition = session.edition(sites.edition)
    read = read_urls(urls, screen, old, new)
    note_origins(read.urls, screen)
    sources = open_sources([old, new], session, sites)
    if len(sources) != 2:
        raise MisuseError("OLD and NEW are one file each, not folders")
    for source in sources:
        source.note_missing(screen)  # without a file everything is allowed
    if any(source.is_unreachable for source in sources):
        return UNREACHABLE
    before, after = (ParsedFile(source.parse(edition, screen)) for source in sources)
    asked = find_crawlers(crawlers, [before, after], None)
    found = find_changes(before, after, asked, read.urls)
    written = {**before.written, **after.written}
    for line in _objects(found) if as_json else _lines(found, written, screen.paint):
        screen.say(line)
    if not as_json:
        screen.sum_up(_summary(found, len(read.urls)))
    return with_problems(GOOD if found.is_empty else FOUND, read.bad_lines)


def _lines(found: FileChanges, written: Mapping[str, str], paint: Paint) -> Iterator[str]:
    for change in found.changes:
        names = [crawler_words(tokens, written) for tokens in change.crawlers]
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        yield paint("strong", ", ".join(names[:_MOST_NAMES]) + more)
        yield from _change_lines(change, found.max_rules, paint)
    for sign, urls in (("-", found.sitemaps_removed), ("+", found.sitemaps_added)):
        for url in urls:
            yield _signed(sign, f"sitemap: {safe(url)}", paint)


def _change_lines(change: Change, max_rules: int, paint: Paint) -> Iterator[str]:
    sides = (("-", change.old), ("+", change.new))
    if change.old.group != change.new.group:
        before, after = (safe(", ".join(side.group)) or "none" for _, side in sides)
        yield f"  group: {before} -> {after}"
    for sign, side in sides:
        for rule in side.rules[:max_rules]:
            yield _signed(sign, f"line {rule.line}: {safe(rule.text.strip())}", paint)
        if len(side.rules) > max_rules:
            more = count(len(side.rules) - max_rules, "more rule", "more rules")
            yield _signed(sign, f"{more} (--json lists all)", paint)
    for sign, side in sides:
        for field, value in side.others:
            yield _signed(sign, f"{safe(field)}: {safe(value)}", paint)
    for flip in change.flips:
        yield from _flip_lines(flip, paint)


def _signed(sign: str, text: str, paint: Paint) -> str:
    return "  " + paint("bad" if sign == "-" else "good", f"{sign} {text}")


def _flip_lines(flip: Flip, paint: Paint) -> Iterator[str]:
    yield f"  {safe(flip.old.url)}"
    for name, found in (("old", flip.old), ("new", flip.new)):
        reason = paint("faint", f"({found.detail})")
        yield f"    {name}  {verdict_word(found.allowed, paint)}  {reason}"


def _summary(found: FileChanges, urls: int) -> str:
    if found.is_empty:
        return "no difference" + (f" ({count(urls, 'URL')})" if urls else "")
    crawlers = sum(len(change.crawlers) for change in found.changes)
    added = len(found.added_lines)
    removed = len(found.removed_lines)
    flips = sum(len(change.flips) * len(change.crawlers) for change in found.changes)
    verdicts = f", {count(flips, 'verdict')} changed" if urls else ""
    return (
        f"{count(added, 'rule')} added, {removed:,} removed "
        f"for {count(crawlers, 'crawler')}{verdicts}"
    )


def _objects(found: FileChanges) -> Iterator[str]:
    for change in found.changes:
        yield dumps(_object(change))
    if found.sitemaps_removed or found.sitemaps_added:
        removed, added = list(found.sitemaps_removed), list(found.sitemaps_added)
        yield dumps({"sitemaps_removed": removed, "sitemaps_added": added})


def _object(change: Change) -> dict[str, Any]:
    return {
        "crawlers": [list(tokens) for tokens in change.crawlers],
        "old_group": list(change.old.group),
        "new_group": list(change.new.group),
        "removed": [rule_object(rule) for rule in change.old.rules],
        "added": [rule_object(rule) for rule in change.new.rules],
        "other_removed": [list(pair) for pair in change.old.others],
        "other_added": [list(pair) for pair in change.new.others],
        "verdicts": [
            {
                "url": flip.old.url,
                "old": verdict_object(flip.old.verdict),
                "new": verdict_object(flip.new.verdict),
            }
            for flip in change.flips
        ],
    }
