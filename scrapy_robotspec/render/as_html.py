"""Explanations as HTML pages without scripts and without network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.render.explanation import precedence_words
from scrapy_robotspec.render.findings import by_code
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.listing import Note, Notes, excerpt, listing, rows_at
from scrapy_robotspec.render.site import facts
from scrapy_robotspec.render.wording import crawler_words, group_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.listing import Row
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile

__all__ = ["answers_page", "editions_page"]

#: More answers than this are rows of a table instead of cards.
MOST_CARDS = 25
#: Max answers on a page, groups, and lines of a group.
MOST_ROWS = 5000
_MOST_GROUPS = 12
_MOST_GROUP_LINES = 300


class _Card(NamedTuple):
    """One answer with everything that led to it."""

    number: int
    found: Explanation
    excerpt: Sequence[Row]
    facts: Sequence[tuple[str, str]]


class _Group(NamedTuple):
    """The group that applies to a crawler, without the rest of the file."""

    crawler: str
    words: str
    rows: Sequence[Row]
    more: int


def answers_page(
    name: str,
    file: ParsedFile | None,
    found: Sequence[Explanation],
    *,
    now: float,
    asked: Iterable[tuple[str, ...]] = (),
) -> str:
    """Answers, and the file with the lines that gave them.

    ``file`` is None where a site has none; ``asked``: more crawlers whose groups are shown.
    """
    cards = found if len(found) <= MOST_CARDS else ()
    crawlers = list(dict.fromkeys([*(one.tokens for one in found), *asked]))
    notes = Notes()
    groups: list[GroupSummary] = []
    if file is not None:
        groups = [file.group_for(tokens) for tokens in crawlers]
        _note_groups(notes, file, groups)
        note_answers(notes, found[:MOST_ROWS])
        for finding in file.findings:
            notes.add_finding(finding)
    return render(
        "answers.html",
        now=now,
        name=name,
        file=file,
        found=found[:MOST_ROWS],
        left_out=max(0, len(found) - MOST_ROWS),
        cards=[_card(number, one, file) for number, one in enumerate(cards, 1)],
        groups=_groups(file, groups, notes) if file is not None else [],
        findings=by_code(file.findings) if file is not None else [],
        blocks=listing(file, notes) if file is not None else [],
    )


def _card(number: int, found: Explanation, file: ParsedFile | None) -> _Card:
    lines: Sequence[Row] = ()
    if found.rule is not None and file is not None:
        style = "decides-good" if found.allowed else "decides-bad"
        lines = excerpt(file, found.rule.line, style)
    return _Card(number, found, lines, list(_facts(found)))


def _facts(found: Explanation) -> Iterable[tuple[str, str]]:
    if found.rule is not None and found.group is not None:
        yield "decided by", precedence_words(found)
    if found.group is not None:
        yield "group", group_words(found.group)
    if found.path and found.path != found.url:
        yield "compared", found.path
    if found.usage is not None:
        yield from found.usage.facts()
    if found.site is not None:
        yield from facts(found.site)


def _note_groups(notes: Notes, file: ParsedFile, groups: Sequence[GroupSummary]) -> None:
    for group in groups:
        name = crawler_words(group.tokens, file.written)
        for line in group.first_lines:
            notes.followed.setdefault(line, []).append(name)


def note_answers(notes: Notes, found: Sequence[Explanation]) -> None:
    """Mark the lines that decide or lose, with links to the answers."""
    links: dict[tuple[int, str], Note] = {}
    for number, one in enumerate(found, 1):
        if one.rule is not None:
            line = one.rule.line
            was_good = notes.styles.get(line) != "decides-bad"
            notes.styles[line] = "decides-good" if one.allowed and was_good else "decides-bad"
            role, style = ("allows", "good") if one.allowed else ("disallows", "bad")
            links.setdefault((line, role), Note(style, role)).links.append(number)
        for rule in one.losing:
            links.setdefault((rule.line, "loses for"), Note("", "loses for")).links.append(number)
        for statement in one.usage.usage.statements if one.usage is not None else ():
            if statement.line is not None:
                note = Note("", "states the use for")
                links.setdefault((statement.line, note.role), note).links.append(number)
    for (line, _), note in links.items():
        notes.margin.setdefault(line, []).append(note)


def _groups(file: ParsedFile, groups: Sequence[GroupSummary], notes: Notes) -> list[_Group]:
    shown: dict[tuple[int, ...], _Group] = {}
    for group in groups[:_MOST_GROUPS]:
        numbers = [*(rule.line for rule in group.rules), *(line.line for line in group.other)]
        lines = rows_at(file, sorted(set(numbers))[:_MOST_GROUP_LINES], notes)
        more = max(0, len(set(numbers)) - _MOST_GROUP_LINES)
        crawler = crawler_words(group.tokens, file.written)
        same = shown.get(group.first_lines)
        if same is None:
            shown[group.first_lines] = _Group(crawler, group_words(group), lines, more)
        else:
            shown[group.first_lines] = same._replace(crawler=f"{same.crawler}, {crawler}")
    return list(shown.values())


def editions_page(
    name: str, file: ParsedFile, rows: Sequence[Sequence[Explanation]], *, now: float
) -> str:
    """A table of URLs and editions, and the file."""
    notes = Notes()
    for finding in file.findings:
        notes.add_finding(finding)
    return render(
        "editions.html",
        now=now,
        name=name,
        rows=rows[:MOST_ROWS],
        left_out=max(0, len(rows) - MOST_ROWS),
        file=file,
        blocks=listing(file, notes),
    )
