"""Prints the changes between two files, for ``diff`` and ``watch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.as_json import dumps, rule_object, verdict_object
from scrapy_robotspec.render.changes import find_changes
from scrapy_robotspec.render.text import count, safe
from scrapy_robotspec.render.wording import crawler_words, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.cli.outputs import Output
    from scrapy_robotspec.cli.session import Crawler, Session
    from scrapy_robotspec.render.changes import Change, FileChanges, Flip
    from scrapy_robotspec.render.parsed_file import ParsedFile
    from scrapy_robotspec.render.terminal import Screen

#: Max crawlers in one heading.
_MOST_NAMES = 8


def report_changes(
    session: Session,
    names: tuple[str, str],
    files: tuple[ParsedFile, ParsedFile],
    asked: Sequence[Crawler],
    urls: Sequence[str | bytes],
    output: Output,
) -> int:
    """Print the changes and return 1, or 0 for none."""
    old, new = files
    found = find_changes(old, new, asked, urls)
    screen = session.screen
    if not output.is_page_only:
        for line in _objects(found) if output.as_json else _lines(found, files, screen):
            screen.say(line)
        if not output.as_json:
            screen.sum_up(_summary(found, len(urls)))
    if output.page is not None:
        from scrapy_robotspec.render.diff_page import diff_page

        output.page.write(diff_page(names, files, found, now=session.now), screen)
    return 0 if found.is_empty else 1


def _lines(
    found: FileChanges, files: tuple[ParsedFile, ParsedFile], screen: Screen
) -> Iterator[str]:
    written = {**files[0].written, **files[1].written}
    for change in found.changes:
        names = [crawler_words(tokens, written) for tokens in change.crawlers]
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        yield screen.paint("strong", ", ".join(names[:_MOST_NAMES]) + more)
        yield from _change_lines(change, found.max_rules, screen)
    for sign, urls in (("-", found.sitemaps_removed), ("+", found.sitemaps_added)):
        for url in urls:
            yield _signed(sign, f"sitemap: {safe(url)}", screen)


def _change_lines(change: Change, max_rules: int, screen: Screen) -> Iterator[str]:
    if change.old_group != change.new_group:
        before, after = (safe(", ".join(names)) or "none" for names in _groups(change))
        yield f"  group: {before} -> {after}"
    for sign, rules in (("-", change.removed), ("+", change.added)):
        for rule in rules[:max_rules]:
            yield _signed(sign, f"line {rule.line}: {safe(rule.text.strip())}", screen)
        if len(rules) > max_rules:
            more = count(len(rules) - max_rules, "more rule", "more rules")
            yield _signed(sign, f"{more} (--json lists all)", screen)
    for sign, others in (("-", change.other_removed), ("+", change.other_added)):
        for field, value in others:
            yield _signed(sign, f"{safe(field)}: {safe(value)}", screen)
    for flip in change.flips:
        yield from _flip_lines(flip, screen)


def _groups(change: Change) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return change.old_group, change.new_group


def _signed(sign: str, text: str, screen: Screen) -> str:
    return "  " + screen.paint("bad" if sign == "-" else "good", f"{sign} {text}")


def _flip_lines(flip: Flip, screen: Screen) -> Iterator[str]:
    yield f"  {safe(flip.old.url)}"
    for name, found in (("old", flip.old), ("new", flip.new)):
        reason = screen.paint("faint", f"({found.detail})")
        yield f"    {name}  {verdict_word(found.allowed, screen)}  {reason}"


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
        "old_group": list(change.old_group),
        "new_group": list(change.new_group),
        "removed": [rule_object(rule) for rule in change.removed],
        "added": [rule_object(rule) for rule in change.added],
        "other_removed": [list(pair) for pair in change.other_removed],
        "other_added": [list(pair) for pair in change.other_added],
        "verdicts": [
            {
                "url": flip.old.url,
                "old": verdict_object(flip.old.verdict),
                "new": verdict_object(flip.new.verdict),
            }
            for flip in change.flips
        ],
    }
