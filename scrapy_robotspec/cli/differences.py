"""``diff``: where two versions disagree; ``editions``: where the editions do."""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple

import click

from scrapy_robotspec.cli import options
from scrapy_robotspec.cli.inputs import UrlOptions, note_origins, open_sources, read_urls
from scrapy_robotspec.cli.session import FOUND, GOOD, Session
from scrapy_robotspec.editions import EDITIONS, MAX_PARSED, Edition
from scrapy_robotspec.protocol.extent import SITE, path_of_pattern
from scrapy_robotspec.protocol.models import POLICY_TOKENS
from scrapy_robotspec.protocol.paths import canonical_text
from scrapy_robotspec.protocol.usage import USAGE_FIELDS, signal_parts, usage_of
from scrapy_robotspec.render.as_json import Object, rule_object, verdict_object
from scrapy_robotspec.render.explanation import Explanation, crawler_words, explain, rule_words
from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens
from scrapy_robotspec.render.text import count, first_of, paint, safe, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.cli.options import CrawlerOptions, Output
    from scrapy_robotspec.protocol.models import Group, Rule
    from scrapy_robotspec.protocol.usage import UsageStatement
    from scrapy_robotspec.render.parsed_file import GroupSummary

_DIFF_EXAMPLES = """\
  robotspec diff old.txt new.txt
  robotspec diff old.txt new.txt --urls urls.txt
  robotspec diff old.txt https://example.com/robots.txt --token examplebot"""

_EDITIONS_EXAMPLES = """\
  robotspec editions robots.txt /page --token examplebot
  robotspec editions robots.txt --each-token"""

#: Lines that hold for every crawler, and the keys of their objects.
_FOR_ALL = {"sitemap": "sitemaps", "license": "licenses", "policy rule": "policy_rules"}
#: Max crawlers in one heading.
_MOST_NAMES = 8
#: Max paths for one crawler.
MAX_PATHS = 2000
#: Max paths for all crawlers together where no URL is given; each crawler gets one in any case.
_MOST_QUESTIONS = 20_000
#: A question counts once more with every 3,000 wildcards. Files of real sites have fewer.
_STARS = 3000

#: Fields and values of lines, by what they mean.
_Meanings = dict[object, list[tuple[str, str]]]
#: The verdicts of every edition about one URL, in the order of EDITIONS; their tokens as asked.
Row = tuple["Explanation", ...]


class Side(NamedTuple):
    """The part of one version in a change."""

    others: list[tuple[str, str]]
    """Fields and values of other lines, such as crawl-delay, that the other version has not."""
    group: tuple[str, ...] = ()
    """User agents of the group that applies."""
    rules: Sequence[Rule] = ()
    """Rules without an equal one in the other version."""


class Change(NamedTuple):
    """The changes of a new version for some crawlers, all alike."""

    crawlers: list[Tokens]
    """Empty for the lines that hold for every crawler."""
    old: Side
    new: Side
    flips: list[tuple[Explanation, Explanation]]
    """Old and new verdicts about one URL that differ."""
    edition: Edition


@options.command(_DIFF_EXAMPLES)
@click.argument("old")
@click.argument("new")
@options.urls_options
@options.crawler_options
@options.site_options
@options.json_option
def diff_command(
    session: Session,
    old: str,
    new: str,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    output: Output,
) -> int:
    """Show the rules that a new version adds and removes, by crawler.

    Differences in spelling, order, comments and line numbers are left out. With URLs: also which
    of them change. OLD and NEW are files, - for standard input, or URLs, which stand for the
    robots.txt of their sites. Without --token: for every crawler that either file names, and for
    any other.
    """
    screen = session.screen
    edition = session.edition
    read = read_urls(urls, screen, old, new)
    note_origins(read, screen)
    sources = open_sources([old, new], session, single=True)
    before, after = (ParsedFile(source.parse(edition, screen)) for source in sources)
    asked = crawlers.find([before, after], None)
    changes = list(find_changes(before, after, asked, read))
    if output.as_json:
        screen.say_json(map(_object, changes))
    else:
        written = {**before.written, **after.written}
        for change in changes:
            screen.say(*_lines(change, written))
        screen.note(_summary(changes, len(read)))
    return FOUND if changes else GOOD


def find_changes(
    old: ParsedFile, new: ParsedFile, asked: Sequence[Tokens], urls: Sequence[str]
) -> Iterator[Change]:
    """The changes for the crawlers ``asked``, and for ``urls``.

    Rules that differ only in spelling, place or order are equal. Crawlers with the same rules in
    both versions share a :class:`Change`. The last one is that of every crawler.
    """
    alike: dict[object, list[Tokens]] = {}
    for tokens in asked:
        key = _lines_for(old, tokens), _lines_for(new, tokens)
        alike.setdefault(key, []).append(tokens)
    for crawlers in alike.values():
        tokens = crawlers[0]
        sides = _side(old, new, tokens), _side(new, old, tokens)
        verdicts = ((explain(old, url, tokens), explain(new, url, tokens)) for url in urls)
        flips = [pair for pair in verdicts if pair[0].allowed != pair[1].allowed]
        if any(side.others for side in sides) or not _decide_alike(old, new, tokens):
            yield Change(crawlers, *sides, flips, new.robots.edition)
    for_all = _lines_for_all(old), _lines_for_all(new)
    removed, added = _lacking(*for_all), _lacking(*reversed(for_all))
    if removed or added:
        yield Change([], Side(removed), Side(added), [], new.robots.edition)


def _decide_alike(old: ParsedFile, new: ParsedFile, tokens: Tokens) -> bool:
    """Whether a crawler gets the same verdicts, though rules may differ that change none.

    Each path is tried alone, and with a tilde behind it, which stands for everything else. That
    needs rules without tildes, wildcards and escapes.
    """
    keys = [file.effective_rules(tokens).keys() for file in (old, new)]
    patterns = {"/"}.union(pattern for _, pattern in keys[0] | keys[1])
    if keys[0] == keys[1] or any(sign in each for each in patterns for sign in "*%~"):
        return keys[0] == keys[1]
    urls = [SITE + path_of_pattern(each) + end for each in patterns for end in ("", "~")]
    return all(old.robots.allowed(url, tokens) is new.robots.allowed(url, tokens) for url in urls)


def _lines_for(file: ParsedFile, tokens: Tokens) -> object:
    """The lines that hold for a crawler: those with the same ones see the same changes."""
    group = file.group_for(tokens)
    return group.group_lines, group.other, file.robots.usage_rules(tokens).statements


def _side(file: ParsedFile, other: ParsedFile, tokens: Tokens) -> Side:
    """The part of *file* for a crawler that *other* has not, without rules that have no path."""
    known = other.effective_rules(tokens)
    found = file.effective_rules(tokens).items()
    rules = [rule for key, rule in found if rule.pattern and key not in known]
    lines = _lacking(_lines_by_meaning(file, tokens), _lines_by_meaning(other, tokens))
    return Side(lines, file.robots.file.follow(tokens).names, list(dict.fromkeys(rules)))


def _lacking(these: _Meanings, others: _Meanings) -> list[tuple[str, str]]:
    """The lines whose meaning others have not."""
    lines = (lines for meaning, lines in these.items() if meaning not in others)
    return [*chain.from_iterable(lines)]


def _lines_for_all(file: ParsedFile) -> _Meanings:
    """The lines that hold for every crawler."""
    lines = [("sitemap", url) for url in file.sitemaps]
    lines += [("license", url) for url in file.for_all.licenses]
    found: _Meanings = {line: [line] for line in lines}
    stated = {each.value for each in file.for_all.statements}
    for token in stated & {*POLICY_TOKENS}:  # USE-10
        for key, rule in file.effective_rules((token,)).items():
            if rule.pattern:
                text = f"{rule.text.strip()} (User-agent: {token})"
                found[token, key] = [("policy rule", text)]
    return found


def _lines_by_meaning(file: ParsedFile, tokens: Tokens) -> _Meanings:
    """The other lines for a crawler.

    The greatest crawl delay counts (EXT-01); statements with one path are combined (USE-02).
    """
    group = file.group_for(tokens)
    apart = ("license", "crawl-delay", *USAGE_FIELDS)
    lines = [(line.field, line.value) for line in group.other if line.field not in apart]
    if group.crawl_delay is not None:
        lines.append(("crawl-delay", repr(group.crawl_delay).removesuffix(".0")))
    found: _Meanings = {line: [line] for line in lines}
    by_path: dict[tuple[str, str | None], list[UsageStatement]] = {}
    for each in file.robots.usage_rules(tokens).statements:
        path = each.path and canonical_text(each.path.encode(), file.robots.edition)
        if each.source in USAGE_FIELDS:
            by_path.setdefault((each.source, path), []).append(each)
    for (field, path), some in by_path.items():
        parts = chain.from_iterable(signal_parts(each.value) for each in some)
        uses = (part for part in parts if part[0] == "use")
        stated = {*usage_of(tuple(some)).preferences.items(), *uses}
        if stated or path is not None:  # any path hides shorter ones
            written = [(field, f"{each.path or ''} {each.value}".strip()) for each in some]
            found[field, path, frozenset(stated)] = written
    return found


def _lines(change: Change, written: Mapping[str, str]) -> Iterator[str]:
    names = [crawler_words(tokens, written) for tokens in change.crawlers]
    yield paint("strong", first_of(names or ["every crawler"], _MOST_NAMES))
    sides = (("-", change.old), ("+", change.new))
    if change.old.group != change.new.group:
        before, after = (safe(", ".join(side.group)) or "none" for _, side in sides)
        yield f"  group: {before} -> {after}"
    for sign, side in sides:
        yield from (_signed(sign, rule_words(rule, change.edition)) for rule in side.rules)
    for sign, side in sides:
        yield from (_signed(sign, f"{safe(field)}: {safe(value)}") for field, value in side.others)
    for flip in change.flips:
        yield f"  {safe(flip[0].url)}"
        for name, found in zip(("old", "new"), flip, strict=True):
            reason = paint("faint", f"({found.detail})")
            yield f"    {name}  {verdict_word(found.allowed)}  {reason}"


def _signed(sign: str, text: str) -> str:
    return "  " + paint("bad" if sign == "-" else "good", f"{sign} {text}")


def _summary(changes: Sequence[Change], urls: int) -> str:
    """The number of changes."""
    crawlers = sum(len(change.crawlers) for change in changes)
    if not crawlers:
        return "only lines for every crawler differ" if changes else "no difference"
    added = {rule.line for change in changes for rule in change.new.rules}
    removed = {rule.line for change in changes for rule in change.old.rules}
    flips = sum(len(change.flips) * len(change.crawlers) for change in changes)
    verdicts = f", {count(flips, 'verdict')} changed" if urls else ""
    what = f"{count(len(added), 'rule')} added, {len(removed):,} removed"
    return f"{what} for {count(crawlers, 'crawler')}{verdicts}"


def _object(change: Change) -> Object:
    """The lines for every crawler have an object of their own; the other keys of a row are null."""
    old, new = change.old, change.new
    of_crawlers = {
        "crawlers": change.crawlers,
        "old_group": old.group,
        "new_group": new.group,
        "removed": [rule_object(rule, change.edition) for rule in old.rules],
        "added": [rule_object(rule, change.edition) for rule in new.rules],
        "other_removed": old.others,
        "other_added": new.others,
        "verdicts": [
            {"url": flip[0].url, "old": verdict_object(flip[0]), "new": verdict_object(flip[1])}
            for flip in change.flips
        ],
    }
    for_all = {
        f"{key}_{sign}": [value for name, value in side.others if name == field]
        for field, key in _FOR_ALL.items()
        for sign, side in (("removed", old), ("added", new))
    }
    if change.crawlers:
        return {**of_crawlers, **dict.fromkeys(for_all)}
    return {**dict.fromkeys(of_crawlers), **for_all}


@options.command(_EDITIONS_EXAMPLES)
@click.argument("file")
@options.urls_options
@options.crawler_options
@options.flag("--all show_all", "Also show where they agree.")
@options.timeout_option
@options.json_option
def editions_command(
    session: Session,
    file: str,
    urls: UrlOptions,
    crawlers: CrawlerOptions,
    show_all: bool,
    output: Output,
) -> int:
    """Show where the editions of the specification disagree.

    FILE is a path, - for standard input, or a URL, which stands for the robots.txt of its site.
    Without a URL: for paths made from the rules.
    """
    screen = session.screen
    read = read_urls(urls, screen, file)
    note_origins([file, *read], screen)
    (given,) = open_sources([file], session, single=True)
    body = given.read(MAX_PARSED + 1)
    source = given._replace(path=None, body=body)  # a pipe can be read once
    files = [
        ParsedFile(source.parse(edition, None if at else screen))
        for at, edition in enumerate(EDITIONS.values())
    ]
    asked = crawlers.find(files, session.default_tokens)
    questions = product(asked, read) if read else _sampled(files, asked)
    rows = [
        tuple(
            explain(file, url, options.in_edition(crawler, file))._replace(tokens=crawler)
            for file in files
        )
        for crawler, url in questions
    ]
    split = [row for row in rows if disagree(row)]
    shown = rows if show_all else split
    if output.as_json:
        screen.say_json(map(_row_object, shown))
    else:
        for row in shown:
            screen.say(*_row_lines(row))
        total = count(len(rows), "question")
        screen.note(f"the editions disagree about {len(split):,} of {total}")
    return FOUND if split else GOOD


def _sampled(files: Sequence[ParsedFile], asked: Sequence[Tokens]) -> Iterator[tuple[Tokens, str]]:
    """Each crawler with paths made from the rules that an edition follows for it."""
    costs = len(asked) * (1 + files[0].robots.body.count(b"*") // _STARS)
    most = min(MAX_PATHS, max(1, _MOST_QUESTIONS // costs))
    for crawler in asked:
        found = [file.group_for(options.in_edition(crawler, file)) for file in files]
        yield from ((crawler, path) for path in sample_paths(found, most))


def sample_paths(groups: Iterable[Group | GroupSummary], most: int = MAX_PATHS) -> list[str]:
    """Distinct paths made from the rules of groups, ``/`` first.

    Each rule yields a path that it matches and one that it does not, so that two readings of a file
    usually differ on one of them if they differ at all. ``most``: max number of paths.
    """
    rules = (rule for group in groups for rule in group.rules)
    paths: dict[str, None] = {}
    for path in chain("/", chain.from_iterable(_around(rule.pattern) for rule in rules)):
        paths[path] = None
        if len(paths) == most:
            break
    # Two slashes begin a host, so such a path needs one before it.
    urls = (f"http://example.com{path}" if path.startswith("//") else path for path in paths)
    return [url for url in urls if "#" not in url]


def _around(pattern: str) -> Iterator[str]:
    slashed = pattern if pattern.startswith(("/", "*")) else f"/{pattern}"
    plain = slashed.removesuffix("$")
    for star in ("", "x", "x/y"):
        path = plain.replace("*", star)
        path = path if path.startswith("/") else f"/{path}"
        yield from (path, f"{path}x", path.rstrip("/") or "/")
    if slashed.startswith("/"):
        yield slashed


def disagree(row: Row) -> bool:
    """Whether one edition allows what another disallows."""
    return len({one.allowed for one in row}) > 1


def _row_lines(row: Row) -> Iterator[str]:
    yield f"{safe(row[0].url)}  {paint('faint', f'({row[0].crawler})')}"
    alike: dict[tuple[bool | None, str], list[str]] = {}
    for name, one in zip(EDITIONS, row, strict=True):
        alike.setdefault((one.allowed, one.detail), []).append(name)
    for (allowed, reason), names in alike.items():
        yield f"  {verdict_word(allowed)}  {', '.join(names)}  {paint('faint', f'({reason})')}"


def _row_object(row: Row) -> Object:
    return {
        "url": row[0].url,
        "tokens": row[0].tokens,
        "agree": not disagree(row),
        "editions": dict(zip(EDITIONS, map(verdict_object, row), strict=True)),
    }
