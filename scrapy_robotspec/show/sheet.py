"""A robots.txt file as part of an HTML page: numbered lines, its groups, and notes in the margin.

What is noted beside a line is given; here is only how the file is set out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.show.markup import code, esc, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.show.book import Book

#: A file with more lines is shown only around the lines that are noted, and at its beginning.
MOST_LINES = 3000
BEGINNING = 300
AROUND = 3
#: Names of a group, and crawlers that follow it, that stand in its heading.
MOST_NAMES = 30
MOST_FOLLOWERS = 6

_RULES = ("allow", "disallow")


@dataclass(slots=True)
class Notes:
    """What stands beside the lines of one file; keys are line numbers."""

    margin: dict[int, list[str]] = field(default_factory=dict)
    """Pieces of markup."""
    decides: dict[int, bool] = field(default_factory=dict)
    """Lines that decide about a URL, and whether they allow it."""
    followed: dict[int, list[str]] = field(default_factory=dict)
    """First lines of the groups followed, and by whom."""

    def add(self, line: int, markup: str) -> None:
        """Put one more piece beside a line."""
        self.margin.setdefault(line, []).append(markup)


@dataclass(slots=True)
class _Block:
    """Consecutive lines of one group, or of none."""

    tokens: tuple[str, ...] | None
    lines: list[Line]


def sheet(book: Book, notes: Notes, prefix: str) -> str:
    """The file. Line 12 can be linked to as ``{prefix}12``."""
    robots = book.robots
    tokens = {group.first_line: group.tokens for group in book.groups}
    lines = list(read_lines(robots.body, robots.edition))
    if not lines:
        return '<p class="soft">The file is empty, so everything is allowed.</p>'
    shown = _shown(len(lines), notes)
    parts = [_block(block, notes, prefix, shown) for block in _blocks(lines, tokens, robots)]
    if robots.truncated:
        parts.append('<p class="left-out">What lies beyond the parsing limit is not read.</p>')
    return "\n".join(parts)


def _blocks(
    lines: list[Line], tokens: Mapping[int, tuple[str, ...]], robots: RobotsTxt
) -> Iterator[_Block]:
    """The file cut where groups begin and end; trailing blanks and comments are in none."""
    block = _Block(None, [])
    for line in lines:
        if line.number in tokens:
            yield from _ended(block)
            block = _Block(tokens[line.number], [])
        elif robots.edition.blank_line_ends_group and not line.text.strip():
            yield from _ended(block)
            block = _Block(None, [])
        block.lines.append(line)
    yield from _ended(block)


def _ended(block: _Block) -> Iterator[_Block]:
    end = len(block.lines)
    if block.tokens is not None:
        while end and not block.lines[end - 1].field:
            end -= 1
    for part in (_Block(block.tokens, block.lines[:end]), _Block(None, block.lines[end:])):
        if part.lines:
            yield part


def _shown(total: int, notes: Notes) -> set[int] | None:
    """Which lines are shown; None for all."""
    if total <= MOST_LINES:
        return None
    shown = set(range(1, BEGINNING + 1))
    for number in list({*notes.margin, *notes.decides, *notes.followed})[:MOST_LINES]:
        shown.update(range(number - AROUND, number + AROUND + 1))
    return shown


def _block(block: _Block, notes: Notes, prefix: str, shown: set[int] | None) -> str:
    items: list[str] = []
    hidden = 0
    for line in block.lines:
        if shown is not None and line.number not in shown:
            hidden += 1
            continue
        items += _left_out(hidden)
        hidden = 0
        items.append(_line(line, notes, prefix))
    items += _left_out(hidden)
    first = block.lines[0].number
    noted = any(line.number in notes.margin for line in block.lines)
    listing = (
        f'<ol class="lines{"" if noted else " plain"}" role="list">\n' + "\n".join(items) + "</ol>"
    )
    if block.tokens is None:
        return listing
    return _group(block, notes.followed.get(first, []), f"{prefix}group{first}", listing)


def _group(block: _Block, followers: list[str], name: str, listing: str) -> str:
    names = block.tokens or ()
    tokens = ", ".join(map(code, names[:MOST_NAMES])) or '<span class="soft">nobody</span>'
    if len(names) > MOST_NAMES:
        tokens += f" and {len(names) - MOST_NAMES:,} more"
    tags = "".join(f" {word('lit', f'followed by {who}')}" for who in followers[:MOST_FOLLOWERS])
    if len(followers) > MOST_FOLLOWERS:
        tags += f" and by {len(followers) - MOST_FOLLOWERS:,} more"
    style = "group followed" if followers else "group"
    heading = f'<h3 id="{name}"><span><span class="soft">Group of</span> {tokens}</span>{tags}</h3>'
    return f'<section class="{style}" aria-labelledby="{name}">{heading}\n{listing}</section>'


def _left_out(number: int) -> list[str]:
    if not number:
        return []
    return [f'<li class="left-out">… {number:,} lines without a note are left out here</li>']


def _line(line: Line, notes: Notes, prefix: str) -> str:
    styles = [_kind(line)]
    if line.number in notes.decides:
        styles.append("decides-good" if notes.decides[line.number] else "decides-bad")
    margin = "".join(notes.margin.get(line.number, ()))
    beside = f'<div class="margin">{margin}</div>' if margin else ""
    name = f"{prefix}{line.number}"
    return (
        f'<li id="{name}" class="{" ".join(styles)}">'
        f'<a class="number" href="#{name}" aria-label="line {line.number}">{line.number}</a>'
        f'<span class="text" dir="ltr">{_text(line)}</span>{beside}</li>'
    )


def _kind(line: Line) -> str:
    if line.field in (*_RULES, "user-agent", "sitemap"):
        return line.field
    if line.field:
        return "other"
    text = line.text.strip()
    return "blank" if not text else "comment" if text.startswith(b"#") else "invalid"


def _text(line: Line) -> str:
    """The line's text, with the name of its field set off."""
    text = line.text
    begin = text.find(line.name) if line.field else -1
    if begin < 0:
        return esc(decode(text))
    end = begin + len(line.name)
    before, name, after = decode(text[:begin]), decode(text[begin:end]), decode(text[end:])
    return f'{esc(before)}<span class="field">{esc(name)}</span>{esc(after)}'
