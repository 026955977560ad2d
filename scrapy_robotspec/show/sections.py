"""The parts of the HTML pages that hold answers and findings: cards, tables, links to lines.

Whole pages are put together in ``pages.py``; text becomes markup in ``show.markup`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.show import answers, markup
from scrapy_robotspec.show.markup import code, esc
from scrapy_robotspec.show.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.show.answers import Answer
    from scrapy_robotspec.show.book import Book, Followed

#: Up to here each answer has a card of its own, beyond they are rows of a table.
MOST_CARDS = 25
#: A page with more answers or links on one line helps nobody.
MOST_ROWS = 5000
MOST_LINKS = 12

_STYLES = {"error": "bad", "warning": "note", "advice": ""}


def links(role: str, numbers: list[int]) -> str:
    """A role that a line has, and the answers it has it for."""
    style = {"allows": "good", "disallows": "bad"}.get(role, "")
    shown = " ".join(f'<a href="#answer-{number}">{number}</a>' for number in numbers[:MOST_LINKS])
    more = f" and {len(numbers) - MOST_LINKS:,} more" if len(numbers) > MOST_LINKS else ""
    return f'<span class="word {style}">{role}</span> <span>{shown}{more}</span>'


def answered(found: Sequence[Answer], book: Book) -> str:
    """The answers: a card for each, or a table for many."""
    if len(found) > MOST_CARDS:
        return _table(found)
    groups = {one.tokens: book.followed(one.tokens) for one in found}
    return "\n".join(_card(number, one, groups[one.tokens]) for number, one in enumerate(found, 1))


def _card(number: int, found: Answer, group: Followed) -> str:
    rules = found.matches
    facts = [
        ("Why", esc(answers.matches_words(found))),
        ("Crawler", esc(answers.crawler_words(found.tokens))),
        ("Group", esc(answers.group_words(group))),
    ]
    if found.path != found.url:
        facts.append(("Compared", code(found.path)))
    if rules:
        facts.append(("Rules", f"<ol>{''.join(_rules(found))}</ol>"))
    terms = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    return (
        f'<article class="answer" id="answer-{number}" aria-labelledby="url-{number}">'
        f'<h3 id="url-{number}"><span class="soft">{number}.</span> '
        f"{markup.verdict(found.verdict.allowed)} {code(found.url)}</h3><dl>{terms}</dl></article>"
    )


def _rules(found: Answer) -> list[str]:
    decisive = [found.verdict.rule] if found.verdict.rule is not None else []
    return [f"<li>{_rule(rule)} decides</li>" for rule in decisive] + [
        f'<li>{_rule(rule)} <span class="soft">loses</span></li>'
        for rule in found.losing[:MOST_LINKS]
    ]


def _rule(rule: Rule) -> str:
    return f'<a href="#line-{rule.line}">line {rule.line}</a> {code(rule.text.strip())}'


def _verdict(found: Answer) -> str:
    return markup.verdict(found.verdict.allowed)


def _why(found: Answer, prefix: str) -> str:
    rule = found.verdict.rule
    if rule is None:
        return esc(answers.reason_words(found.verdict))
    return f'<a href="#{prefix}{rule.line}">line {rule.line}</a> {code(rule.text.strip())}'


def _row(number: int, found: Answer, cells: Mapping[str, str]) -> str:
    """A row whose cells know their column: on a narrow screen they stand below each other.

    The roles are spelt out because browsers forget them for cells that are no table cells.
    """
    who = esc(answers.crawler_words(found.tokens))
    rest = "".join(
        f'<td role="cell" data-column="{esc(column)}">{cell}</td>'
        for column, cell in {"Crawler": who, **cells}.items()
    )
    url = f'<th role="rowheader" scope="row">{code(found.url)}</th>'
    return f'<tr role="row" id="answer-{number}"><td role="cell">{number}</td>{url}{rest}</tr>'


def _rows(heads: Iterable[str], rows: Sequence[str], caption: str) -> str:
    names = "".join(
        f'<th role="columnheader" scope="col">{esc(head)}</th>'
        for head in ("#", "URL", "Crawler", *heads)
    )
    more = f"; {len(rows) - MOST_ROWS:,} more are left out" if len(rows) > MOST_ROWS else ""
    return (
        f'<table role="table"><caption>{esc(caption + more)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{names}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(rows[:MOST_ROWS])}</tbody></table>'
    )


def _table(found: Sequence[Answer]) -> str:
    rows = [
        _row(
            number, one, {"Verdict": markup.verdict(one.verdict.allowed), "Why": _why(one, "line-")}
        )
        for number, one in enumerate(found, 1)
    ]
    allowed = sum(one.verdict.allowed for one in found)
    caption = f"{allowed:,} allowed, {len(found) - allowed:,} disallowed"
    return _rows(("Verdict", "Why"), rows, caption)


def flips(found: Sequence[tuple[Answer, Answer]]) -> str:
    """What two files answer differently."""
    if not found:
        return "<p>No verdict differs.</p>"
    rows = [
        _row(
            number,
            old,
            {
                "Before": f"{_verdict(old)} {_why(old, 'old-line-')}",
                "After": f"{_verdict(new)} {_why(new, 'new-line-')}",
            },
        )
        for number, (old, new) in enumerate(found, 1)
    ]
    return _rows(("Before", "After"), rows, count(len(found), "verdict"))


def disagreements(readings: Mapping[str, RobotsTxt], rows: Sequence[Sequence[Answer]]) -> str:
    """What each edition answers."""
    if not rows:
        return "<p>They agree about every URL asked.</p>"
    cells = [
        _row(
            number,
            row[0],
            {one.verdict.edition: f"{_verdict(one)} {_why(one, 'line-')}" for one in row},
        )
        for number, row in enumerate(rows, 1)
    ]
    return _rows(readings, cells, count(len(rows), "question"))


def findings(book: Book, prefix: str) -> str:
    """What the linter found, linked to the lines; empty where it found nothing."""
    items = "".join(
        f'<li><a href="#{prefix}{max(one.line, 1)}">{_place(one.line)}</a> '
        f"{markup.word(_STYLES[one.severity], one.code)} {one.severity}: {esc(one.message)}</li>"
        for one in book.findings
    )
    return f'<ol class="findings" role="list">{items}</ol>' if items else ""


def _place(line: int) -> str:
    return f"line {line}" if line else "whole file"
