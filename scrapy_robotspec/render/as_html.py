"""Answers as an HTML page without scripts and without network."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.render.explanation import facts
from scrapy_robotspec.render.listing import Notes, listing
from scrapy_robotspec.render.text import count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import ParsedFile
    from scrapy_robotspec.render.site import SiteAnswer

#: Max answers on a page.
MOST_ROWS = 500

#: In the order of the page; the values of ``Explanation.allowed``.
_WORDS = {False: "disallowed", None: "without an answer", True: "allowed"}


class PageAnswers:
    """The answers of a page: all counted, the first ones kept."""

    def __init__(self) -> None:
        self.numbers: Counter[bool | None] = Counter()
        """Answers by ``Explanation.allowed``."""
        self._kept: dict[bool | None, list[Explanation]] = {word: [] for word in _WORDS}
        self._crawlers: set[tuple[str, ...]] = set()
        self._urls: set[str] = set()

    def add(self, found: Explanation) -> None:
        """Count an answer, and keep it if the page may show it."""
        self.numbers[found.allowed] += 1
        self._crawlers.add(found.tokens)
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
        total = self.numbers.total()
        subject, noun = "", "answer"
        if len(self._crawlers) == 1:
            subject, noun = f"{self.shown[0].crawler}: ", "URL"
        elif len(self._urls) == 1:
            subject, noun = f"{safe(self.shown[0].url)}: ", "crawler"
        parts = [f"{self.numbers[False]:,} of {count(total, noun)} disallowed"]
        for allowed, word in _WORDS.items():
            if self.numbers[allowed] == total:
                parts = [f"all {count(total, noun)} {word}"]
        if 0 < self.numbers[None] < total:
            parts.append(f"{self.numbers[None]:,} without an answer")
        headline = f"{subject}{', '.join(parts)}"
        return headline[:1].upper() + headline[1:] if () in self._crawlers else headline

    def left_out(self) -> str:
        """Which answers the page does not show; empty if it shows all."""
        shown = Counter(found.allowed for found in self.shown)
        parts = [
            f"{more:,} {word}"
            for allowed, word in _WORDS.items()
            if (more := self.numbers[allowed] - shown[allowed])
        ]
        if not parts:
            return ""
        return f"The page shows {shown.total():,} answers and leaves out {listed(parts)}."


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
        columns=_columns(found),
        rows=listing(file, notes) if file is not None else [],
    )


def _columns(found: Sequence[Explanation]) -> dict[str, bool]:
    """The columns of the table, and whether their cells differ."""
    cells: dict[str, set[object]] = {
        "URL": {one.url for one in found},
        "Crawler": {one.crawler for one in found},
        "Verdict": {one.allowed for one in found},
        "Why": {one.detail for one in found},
    }
    return {column: len(values) > 1 for column, values in cells.items()}
