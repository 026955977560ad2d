"""Answers as an HTML page without scripts and without network."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.render.explanation import facts
from scrapy_robotspec.render.listing import Notes, listing
from scrapy_robotspec.render.text import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import ParsedFile
    from scrapy_robotspec.render.site import SiteAnswer

#: Max answers on a page.
MOST_ROWS = 500

#: The values of ``Explanation.allowed``, in the order of the page.
_ORDER = (False, None, True)


class PageAnswers:
    """The answers of a page: all counted, the first ones kept."""

    def __init__(self) -> None:
        self.numbers: Counter[bool | None] = Counter()
        """Answers by ``Explanation.allowed``."""
        self._kept: dict[bool | None, list[Explanation]] = {allowed: [] for allowed in _ORDER}

    def add(self, found: Explanation) -> None:
        """Count an answer, and keep it if the page may show it."""
        self.numbers[found.allowed] += 1
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
        """``800 of 6,000 answers disallowed``, with those that nothing decided."""
        headline = f"{self.numbers[False]:,} of {count(self.numbers.total(), 'answer')} disallowed"
        if self.numbers[None]:
            headline += f", {self.numbers[None]:,} without an answer"
        return headline

    def left_out(self) -> str:
        """How many answers the page shows; empty if it shows all."""
        if self.numbers.total() <= MOST_ROWS:
            return ""
        return f"The page shows {MOST_ROWS:,} answers, disallowed ones first."


def answers_page(
    name: str,
    file: ParsedFile | None,
    answers: PageAnswers,
    *,
    now: float,
    asked: Iterable[tuple[str, ...]] = (),
) -> str:
    """Answers, and the file with the lines that gave them.

    ``file`` is None where a site has none; ``asked``: more crawlers whose groups are marked.
    """
    from scrapy_robotspec.render.html_base import render  # most answers need no Jinja2

    found = answers.shown
    notes = Notes()
    if file is not None:
        crawlers = dict.fromkeys([*(one.tokens for one in found), *asked])
        notes.add_groups(file, map(file.group_for, crawlers))
        notes.add_answers(found)
    return render(
        "answers.html",
        now=now,
        name=name,
        file=file,
        found=found,
        headline=answers.headline() if found else "",
        left_out=answers.left_out(),
        facts=facts,
        rows=listing(file, notes) if file is not None else [],
    )
