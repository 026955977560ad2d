"""A robots.txt as numbered lines with notes, for a template."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.render.parsed_file import ParsedFile

#: A longer file is shown at its beginning and around the lines with notes only (lines).
MOST_LINES = 3000
BEGINNING = 300
AROUND = 3
#: Max user agents in the heading of a group, and crawlers it applies to.
MOST_NAMES = 30
MOST_FOLLOWERS = 6

_RULES = ("allow", "disallow")


@dataclass(slots=True)
class Note:
    """The role of a line in some answers."""

    style: str
    """good, bad, or empty."""
    role: str
    links: list[int] = field(default_factory=list)
    """Numbers of answers."""


@dataclass(slots=True)
class Notes:
    """Notes beside the lines of one file; keys are line numbers."""

    margin: dict[int, list[Note]] = field(default_factory=dict)
    styles: dict[int, str] = field(default_factory=dict)
    """A style for a whole line: decides-good or decides-bad."""
    followed: dict[int, list[str]] = field(default_factory=dict)
    """First lines of groups that apply, and to which crawlers (escaped names)."""

    @property
    def lines(self) -> set[int]:
        """The lines with a note."""
        return {*self.margin, *self.styles, *self.followed}


@dataclass(frozen=True, slots=True)
class Row:
    """One line, or a number of lines left out."""

    number: int
    style: str
    before: str
    """Text before the field's name."""
    name: str
    after: str
    notes: Sequence[Note] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of one group, or of none."""

    rows: Sequence[Row]
    first: int
    names: Sequence[str] | None
    """User agents of the group; None outside groups."""
    more_names: int
    followers: Sequence[str]
    more_followers: int

    @property
    def has_notes(self) -> bool:
        """Whether a column for notes is needed."""
        return any(row.notes for row in self.rows)


def listing(file: ParsedFile, notes: Notes) -> list[Block]:
    """The whole file in blocks."""
    shown = _shown(len(file.lines), notes)
    return [_block(names, lines, notes, shown) for names, lines in _blocks(file)]


def _written(file: ParsedFile) -> dict[int, tuple[str, ...]]:
    """The user agents of each group as the file writes them, by the group's first line."""
    names = file.written
    return {
        group.first_line: tuple(names.get(token, token) for token in group.tokens)
        for group in file.groups
    }


def excerpt(file: ParsedFile, number: int, style: str) -> list[Row]:
    """A line with the line before and the line after it."""
    lines = file.lines[max(0, number - 2) : number + 1]
    notes = Notes(styles={number: style})
    return [row(line, notes) for line in lines]


def rows_at(file: ParsedFile, numbers: Iterable[int], notes: Notes) -> list[Row]:
    """Some lines of a file."""
    return [row(file.lines[number - 1], Notes(styles=notes.styles)) for number in numbers]


Cut = tuple["tuple[str, ...] | None", "list[Line]"]


def _blocks(file: ParsedFile) -> Iterator[Cut]:
    """The file cut where groups begin and end; trailing blank lines and comments belong to none."""
    tokens = _written(file)
    blank_ends = file.robots.edition.blank_line_ends_group
    names: tuple[str, ...] | None = None
    lines: list[Line] = []
    for line in file.lines:
        if line.number in tokens:
            yield from _ended(names, lines)
            names, lines = tokens[line.number], []
        elif blank_ends and not line.text.strip():
            yield from _ended(names, lines)
            names, lines = None, []
        lines.append(line)
    yield from _ended(names, lines)


def _ended(names: tuple[str, ...] | None, lines: list[Line]) -> Iterator[Cut]:
    end = len(lines)
    if names is not None:
        while end and not lines[end - 1].field:
            end -= 1
    for part in ((names, lines[:end]), (None, lines[end:])):
        if part[1]:
            yield part


def _shown(total: int, notes: Notes) -> set[int] | None:
    """The lines that are shown; None for all."""
    if total <= MOST_LINES:
        return None
    shown = set(range(1, BEGINNING + 1))
    for number in sorted(notes.lines)[:MOST_LINES]:
        shown.update(range(number - AROUND, number + AROUND + 1))
    return shown


def _block(
    names: tuple[str, ...] | None, lines: list[Line], notes: Notes, shown: set[int] | None
) -> Block:
    rows: list[Row] = []
    hidden = 0
    for line in lines:
        if shown is not None and line.number not in shown:
            hidden += 1
            continue
        rows += _left_out(hidden)
        hidden = 0
        rows.append(row(line, notes))
    rows += _left_out(hidden)
    first = lines[0].number
    followers = notes.followed.get(first, [])
    return Block(
        rows,
        first,
        None if names is None else names[:MOST_NAMES],
        max(0, len(names or ()) - MOST_NAMES),
        followers[:MOST_FOLLOWERS],
        max(0, len(followers) - MOST_FOLLOWERS),
    )


def _left_out(number: int) -> list[Row]:
    return [Row(0, "left-out", "", "", "", left_out=number)] if number else []


def row(line: Line, notes: Notes) -> Row:
    """One line with its notes."""
    before, name, after = _parts(line)
    style = f"{_kind(line)} {notes.styles.get(line.number, '')}".strip()
    return Row(line.number, style, before, name, after, notes.margin.get(line.number, ()))


def _kind(line: Line) -> str:
    if line.field in (*_RULES, "user-agent", "sitemap"):
        return line.field
    if line.field:
        return "other"
    text = line.text.strip()
    return "blank" if not text else "comment" if text.startswith(b"#") else "invalid"


def _parts(line: Line) -> tuple[str, str, str]:
    """The line's text before, in and after the name of its field."""
    begin = line.text.find(line.name) if line.field else -1
    if begin < 0:
        return decode(line.text), "", ""
    end = begin + len(line.name)
    return decode(line.text[:begin]), decode(line.text[begin:end]), decode(line.text[end:])
