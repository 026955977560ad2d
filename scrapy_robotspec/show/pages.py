"""The HTML page of each command: its sections, and what is noted beside the lines of the file.

The sections' own markup stands in ``sections.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.show import answers, markup, sections
from scrapy_robotspec.show.book import Book
from scrapy_robotspec.show.markup import esc
from scrapy_robotspec.show.sheet import Notes, sheet
from scrapy_robotspec.show.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.show.answers import Answer

Section = tuple[str, str, str]


def answers_page(
    name: str, book: Book, found: Sequence[Answer], asked: Iterable[tuple[str, ...]] = ()
) -> str:
    """``explain`` and ``check``: the answers, and the file with the lines that gave them."""
    return markup.page(f"What {name} says", _lead(book), _answered(book, found, asked))


def road_page(name: str, road: str, book: Book | None, found: Sequence[Answer]) -> str:
    """``scrapy robotspec explain``: how the file was come by, and what it says.

    ``road`` is markup; ``book`` is None where no file counts.
    """
    parts: list[Section] = [("road", "The road", road)]
    if book is None:
        return markup.page(f"What {name} means", "", parts)
    return markup.page(f"What {name} says", _lead(book), parts + _answered(book, found, ()))


def _answered(
    book: Book, found: Sequence[Answer], asked: Iterable[tuple[str, ...]]
) -> list[Section]:
    notes = Notes()
    for tokens in dict.fromkeys([*(one.tokens for one in found), *asked]):
        _note_followed(notes, book, tokens)
    _note_answers(notes, found[: sections.MOST_ROWS], "line-")
    _note_findings(notes, book)
    return [
        ("answers", "Answers", sections.answered(found, book)),
        ("findings", "Findings", sections.findings(book, "line-")),
        ("file", "The file", sheet(book, notes, "line-")),
    ]


def lint_page(files: Sequence[tuple[str, RobotsTxt]]) -> str:
    """``lint``: the findings of one file or more, and the files."""
    parts: list[Section] = []
    for number, (name, robots) in enumerate(files, 1):
        book, notes, prefix = Book(robots), Notes(), f"file{number}-line-"
        _note_findings(notes, book)
        findings = sections.findings(book, prefix) or "<p>Nothing to find fault with.</p>"
        parts.append((f"findings{number}", f"Findings in {name}", _lead(book) + findings))
        parts.append((f"file{number}", name, sheet(book, notes, prefix)))
    return markup.page("What the linter found", "", parts)


def diff_page(
    old_name: str,
    old: RobotsTxt,
    new_name: str,
    new: RobotsTxt,
    found: Sequence[tuple[Answer, Answer]],
) -> str:
    """``diff``: the verdicts that differ, and both files."""
    parts: list[Section] = [("answers", "Verdicts that differ", sections.flips(found))]
    for at, (name, robots) in enumerate(((old_name, old), (new_name, new))):
        notes, prefix = Notes(), ("old-line-", "new-line-")[at]
        _note_answers(notes, [pair[at] for pair in found[: sections.MOST_ROWS]], prefix)
        heading = f"{('Before', 'After')[at]}: {name}"
        parts.append((("old", "new")[at], heading, sheet(Book(robots), notes, prefix)))
    lead = f"<p>{count(len(found), 'verdict')} differ, read by edition {esc(old.edition.name)}.</p>"
    return markup.page(f"From {old_name} to {new_name}", lead, parts)


def editions_page(
    name: str, readings: Mapping[str, RobotsTxt], rows: Sequence[Sequence[Answer]]
) -> str:
    """``editions``: a table of URLs and editions, and the file as the default edition reads it."""
    notes = Notes()
    book = Book(next(iter(readings.values())))
    _note_findings(notes, book)
    return markup.page(
        f"Where the editions disagree about {name}",
        f"<p>{count(len(rows), 'question')} shown.</p>",
        [
            ("answers", "Answers", sections.disagreements(readings, rows)),
            ("file", "The file", sheet(book, notes, "line-")),
        ],
    )


def _lead(book: Book) -> str:
    return f'<p class="soft">{esc(book.summary())}</p>'


# --- notes


def _note_findings(notes: Notes, book: Book) -> None:
    for finding in book.findings:
        text = f"<b>{esc(finding.code)}</b> {esc(finding.message)}"
        notes.add(max(finding.line, 1), f'<span class="finding">{text}</span>')


def _note_followed(notes: Notes, book: Book, tokens: tuple[str, ...]) -> None:
    for line in book.followed(tokens).first_lines:
        notes.followed.setdefault(line, []).append(answers.crawler_words(tokens))


def _note_answers(notes: Notes, found: Sequence[Answer], prefix: str) -> None:
    links: dict[tuple[int, str], list[int]] = {}
    for number, one in enumerate(found, 1):
        if one.verdict.rule is not None:
            line = one.verdict.rule.line
            notes.decides[line] = one.verdict.allowed and notes.decides.get(line, True)
            role = "allows" if one.verdict.allowed else "disallows"
            links.setdefault((line, role), []).append(number)
        for rule in one.losing:
            links.setdefault((rule.line, "loses for"), []).append(number)
    for (line, role), numbers in links.items():
        notes.add(line, sections.links(role, numbers))
