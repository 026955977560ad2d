"""A robots.txt as numbered lines with notes, for a template."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.render.text import crawler_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile

#: A longer file is shown at its beginning and around the lines with notes only (lines).
MOST_LINES = 3000
BEGINNING = 300
AROUND = 3
#: Max crawlers that are named at a group.
MOST_FOLLOWERS = 6

_KINDS = ("allow", "disallow", "user-agent", "sitemap")


@dataclass(slots=True)
class Note:
    """The role of a line in some answers, or for some crawlers."""

    style: str
    """good, bad, lit, or empty."""
    role: str
    links: list[int] = field(default_factory=list)
    """Numbers of answers."""


@dataclass(slots=True)
class Notes:
    """Notes beside the lines of one file; keys are line numbers."""

    margin: dict[int, list[Note]] = field(default_factory=dict)
    styles: dict[int, str] = field(default_factory=dict)
    """A style for a whole line: decides-good or decides-bad."""
    followed: set[int] = field(default_factory=set)
    """Lines of groups that apply."""

    def add_groups(self, file: ParsedFile, groups: Iterable[GroupSummary]) -> None:
        """Mark the groups that apply, and to which crawlers."""
        names: dict[int, list[str]] = {}
        for group in groups:
            for line in group.first_lines:
                names.setdefault(line, []).append(crawler_words(group.tokens, file.written))
        for first, last in file.extents():
            if followers := names.get(first):
                more = len(followers) - MOST_FOLLOWERS
                words = ", ".join(followers[:MOST_FOLLOWERS])
                words += f" and {more:,} more" if more > 0 else ""
                self.margin.setdefault(first, []).append(Note("lit", f"applies to {words}"))
                self.followed.update(range(first, last + 1))

    def add_answers(self, found: Sequence[Explanation]) -> None:
        """Mark the lines that decide or lose, with links to the answers."""
        notes: dict[tuple[int, str], Note] = {}

        def link(number: int, line: int, style: str, role: str) -> None:
            notes.setdefault((line, role), Note(style, role)).links.append(number)

        for number, one in enumerate(found, 1):
            if one.rule is not None:
                line = one.rule.line
                was_good = self.styles.get(line) != "decides-bad"
                self.styles[line] = "decides-good" if one.allowed and was_good else "decides-bad"
                link(number, line, *(("good", "allows") if one.allowed else ("bad", "disallows")))
            for rule in one.losing:
                link(number, rule.line, "", "loses for")
            for statement in one.usage.usage.statements if one.usage is not None else ():
                if statement.line is not None:
                    link(number, statement.line, "", "states the use for")
        for (line, _), note in notes.items():
            self.margin.setdefault(line, []).append(note)


class Row(NamedTuple):
    """One line, or a number of lines left out."""

    number: int
    style: str
    text: str
    notes: Sequence[Note] = ()
    left_out: int = 0


def listing(file: ParsedFile, notes: Notes) -> list[Row]:
    """The lines of the file.

    A long file is cut to its beginning and the lines with notes.
    """
    shown = set(range(1, len(file.lines) + 1))
    if len(shown) > MOST_LINES:
        shown = set(range(1, BEGINNING + 1))
        noted = [*notes.margin, *notes.styles, *sorted(notes.followed)][:MOST_LINES]
        for number in noted:
            shown.update(range(number - AROUND, number + AROUND + 1))
    rows: list[Row] = []
    for is_shown, lines in groupby(file.lines, key=lambda line: line.number in shown):
        if is_shown:
            rows += [_row(line, notes) for line in lines]
        else:
            rows.append(Row(0, "", "", left_out=len(list(lines))))
    return rows


def _row(line: Line, notes: Notes) -> Row:
    followed = "followed" if line.number in notes.followed else ""
    styles = (_kind(line), followed, notes.styles.get(line.number, ""))
    style = " ".join(filter(None, styles))
    return Row(line.number, style, decode(line.text), notes.margin.get(line.number, ()))


def _kind(line: Line) -> str:
    if line.field:
        return line.field if line.field in _KINDS else "other"
    text = line.text.strip()
    return "blank" if not text else "comment" if text.startswith(b"#") else "invalid"
