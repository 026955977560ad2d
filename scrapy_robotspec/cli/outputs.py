"""Writes pages without destroying anything: no input, no file of another tool."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.cli.session import Crawler, Session
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.as_html import PageAnswers
    from scrapy_robotspec.render.explanation import Explanation

STANDARD_OUTPUT = "-"

#: Found near the beginning of each page that this tool writes.
MARK = b'<meta name="generator" content="scrapy_robotspec'
_MARK_WITHIN = 4096  # bytes


class OutputOptions(NamedTuple):
    """Options that set the form of the answers."""

    as_json: bool
    html: str | None
    """Name of a page to write."""
    force: bool
    """Whether the page may overwrite a file of another tool."""

    def open(self, inputs: Iterable[str | None]) -> Output:
        """The output of a command that reads *inputs*.

        Raises :class:`MisuseError` if the page is an input, or an existing file of another tool
        and not ``force``, or in no folder.
        """
        if self.html is not None and self.html != STANDARD_OUTPUT:
            _check(self.html, inputs, self.force)
        return Output(self.as_json, self.html)


class Output:
    """The form of a command's answers: lines, JSON, and a page."""

    def __init__(self, as_json: bool, page: str | None) -> None:
        self.as_json = as_json
        """JSON instead of text."""
        self.page = page
        """The file of the page; ``-``: standard output, in place of the lines; None: no page."""
        self._answers: PageAnswers | None = None

    @property
    def is_page_only(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self.page == STANDARD_OUTPUT

    def keep(self, found: Explanation) -> None:
        """Keep an answer for the page, if there is one."""
        if self.page is None:
            return
        if self._answers is None:
            from scrapy_robotspec.render.as_html import PageAnswers

            self._answers = PageAnswers()
        self._answers.add(found)

    def write_answers(self, session: Session, name: str, robots: RobotsTxt | None) -> None:
        """Write the page of the answers kept, if there is one.

        Without ``robots`` it shows the file of the site of the first answer.
        """
        site = self._answers.first_site() if self._answers is not None else None
        if site is not None:
            robots = site.robots
            name = site.origin.robots_url if site.origin is not None else site.url
        self.write_file(session, name, robots)

    def write_file(
        self,
        session: Session,
        name: str,
        robots: RobotsTxt | None,
        asked: Sequence[Crawler] = (),
    ) -> None:
        """Write the page of a file, with answers and groups of crawlers."""
        if self.page is None:
            return
        from scrapy_robotspec.render.as_html import answers_page
        from scrapy_robotspec.render.parsed_file import ParsedFile

        file = ParsedFile(robots) if robots is not None else None
        self._write(answers_page(name, file, self._answers, now=time(), asked=asked))
        if not self.is_page_only:
            session.screen.note(f"page written: {self.page}")

    def _write(self, text: str) -> None:
        assert self.page is not None
        if self.is_page_only:
            sys.stdout.write(text)
            return
        try:
            with open(self.page, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise MisuseError(f"cannot write {self.page}: {error.strerror}") from error


def check_one_origin(urls: Sequence[str]) -> None:
    """Raise :class:`MisuseError` unless one robots.txt governs all URLs of a page."""
    from scrapy_robotspec.access.origin import Origin

    if len({Origin.of(url) for url in urls}) > 1:
        raise MisuseError("--html is for URLs of one site, as the page shows one robots.txt")


def _check(name: str, inputs: Iterable[str | None], force: bool) -> None:
    """Raise :class:`MisuseError` unless a page may be written."""
    if any(_is_same(name, given) for given in inputs if given not in (None, "-")):
        raise MisuseError(f"--html {name} would overwrite an input: choose another name")
    if os.path.isfile(name) and not force and not _is_ours(name):
        raise MisuseError(
            f"{name} exists and is not a page of this tool: choose another name, or overwrite it "
            "with --force"
        )
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise MisuseError(f"cannot write {name}: folder {folder} does not exist")
    if os.path.isdir(name):
        raise MisuseError(f"cannot write {name}: it is a folder")


def _is_same(name: str, given: str | None) -> bool:
    assert given is not None
    with suppress(OSError, ValueError):
        if os.path.samefile(name, given):
            return True
    if os.path.isdir(given):  # every file below a folder is an input
        inside = os.path.realpath(given) + os.sep
        return os.path.exists(name) and os.path.realpath(name).startswith(inside)
    return os.path.realpath(name) == os.path.realpath(given)


def _is_ours(name: str) -> bool:
    try:
        with open(name, "rb") as file:
            beginning = file.read(_MARK_WITHIN)
    except OSError:
        return False
    return not beginning or MARK in beginning
