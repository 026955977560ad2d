"""Answers as an HTML page without scripts and without network."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.render.explanation import precedence_words
from scrapy_robotspec.render.html_base import render
from scrapy_robotspec.render.listing import Note, Notes, excerpt, listing, rows_at
from scrapy_robotspec.render.site import facts
from scrapy_robotspec.render.text import count, crawler_words, group_words, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.listing import Row
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile
    from scrapy_robotspec.render.site import SiteAnswer

__all__ = ["PageAnswers", "answers_page"]

#: More answers than this are rows of a table instead of cards.
MOST_CARDS = 25
#: Max answers on a page, groups, and lines of a group.
MOST_ROWS = 500
_MOST_GROUPS = 12
_MOST_GROUP_LINES = 300

#: In the order of the page; the values of ``Explanation.allowed``.
_WORDS = {False: "disallowed", None: "without an answer", True: "allowed"}


class PageAnswers:
    """The answers of a page: all counted, the first ones kept."""

    def __init__(self) -> None:
        self._numbers: Counter[bool | None] = Counter()
        self._kept: dict[bool | None, list[Explanation]] = {word: [] for word in _WORDS}
        self._crawlers: set[tuple[str, ...]] = set()  # one is distinguished from several
        self._urls: set[str] = set()

    def add(self, found: Explanation) -> None:
        """Count an answer, and keep it if the page may show it."""
        self._numbers[found.allowed] += 1
        if len(self._crawlers) < 2:
            self._crawlers.add(found.tokens)
        if len(self._urls) < 2:
            self._urls.add(found.url)
        if len(self._kept[found.allowed]) < MOST_ROWS:
            self._kept[found.allowed].append(found)

    @property
    def shown(self) -> list[Explanation]:
        """The answers on the page, disallowed ones first."""
        return list(chain(*self._kept.values()))[:MOST_ROWS]

    def first_site(self) -> SiteAnswer | None:
        """The site of the first answer; None for a file."""
        return next((found.site for found in self.shown), None)

    def headline(self) -> str:
        """``examplebot: 800 of 6,000 URLs disallowed``, escaped."""
        total = self._numbers.total()
        subject, noun = "", "answer"
        if len(self._crawlers) == 1:
            subject, noun = f"{self.shown[0].crawler}: ", "URL"
        elif len(self._urls) == 1:
            subject, noun = f"{safe(self.shown[0].url)}: ", "crawler"
        parts = [f"{self._numbers[False]:,} of {count(total, noun)} disallowed"]
        for allowed, word in _WORDS.items():
            if self._numbers[allowed] == total:
                parts = [f"all {count(total, noun)} {word}"]
        if 0 < self._numbers[None] < total:
            parts.append(f"{self._numbers[None]:,} without an answer")
        headline = f"{subject}{', '.join(parts)}"
        return headline[:1].upper() + headline[1:] if () in self._crawlers else headline

    def left_out(self) -> str:
        """Which answers the page does not show; empty if it shows all."""
        shown = Counter(found.allowed for found in self.shown)
        parts = [
            f"{more:,} {word}"
            for allowed, word in _WORDS.items()
            if (more := self._numbers[allowed] - shown[allowed])
        ]
        if not parts:
            return ""
        return f"The page shows {shown.total():,} answers and leaves out {listed(parts)}."


class _Column(NamedTuple):
    """A column of the table of answers, or what all its cells say."""

    name: str
    kind: str
    """Name of the cell in the template."""


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
    answers: PageAnswers | None,
    *,
    now: float,
    asked: Iterable[tuple[str, ...]] = (),
) -> str:
    """Answers, and the file with the lines that gave them.

    ``file`` is None where a site has none; ``asked``: more crawlers whose groups are shown.
    """
    found = answers.shown if answers is not None else []
    cards = found if len(found) <= MOST_CARDS else ()
    crawlers = list(dict.fromkeys([*(one.tokens for one in found), *asked]))
    notes = Notes()
    groups: list[GroupSummary] = []
    if file is not None:
        groups = [file.group_for(tokens) for tokens in crawlers]
        _note_groups(notes, file, groups)
        note_answers(notes, found)
    return render(
        "answers.html",
        now=now,
        name=name,
        file=file,
        found=found,
        headline=answers.headline() if answers is not None else "",
        left_out=answers.left_out() if answers is not None else "",
        columns=_columns(found),
        cards=[_card(number, one, file) for number, one in enumerate(cards, 1)],
        groups=_groups(file, groups, notes) if file is not None else [],
        blocks=listing(file, notes) if file is not None else [],
    )


def _columns(found: Sequence[Explanation]) -> list[_Column]:
    """The columns whose cells differ."""
    cells: dict[_Column, set[object]] = {
        _Column("URL", "url"): {one.url for one in found},
        _Column("Crawler", "crawler"): {one.crawler for one in found},
        _Column("Verdict", "verdict"): {one.allowed for one in found},
        _Column("Why", "why"): {one.detail for one in found},
    }
    return [column for column, values in cells.items() if len(values) > 1]


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
