"""Writes pages without destroying anything: no input, no file of another tool."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.cli.session import Crawler, Session
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.as_html import PageAnswers

STANDARD_OUTPUT = "-"

#: Found near the beginning of each page that this tool writes.
MARK = b'<meta name="generator" content="scrapy_robotspec'
_MARK_WITHIN = 4096  # bytes


class Output:
    """The form of a command's answers: lines, JSON, and a page.

    ``html``: the file of the page; ``-``: standard output, in place of the lines; None: no page.
    ``force``: whether the page may overwrite a file of another tool.
    """

    def __init__(self, as_json: bool, html: str | None, force: bool) -> None:
        self.as_json = as_json
        """JSON instead of text."""
        self._page = html
        self._force = force

    @property
    def is_page_only(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self._page == STANDARD_OUTPUT

    def check(self, inputs: Iterable[str | None]) -> None:
        """Raise :class:`MisuseError` unless the page may be written.

        It must not be one of ``inputs``, nor an existing file of another tool without ``force``.
        """
        name = self._page
        if name is None or self.is_page_only:
            return
        if any(_is_same(name, given) for given in inputs if given not in (None, "-")):
            raise MisuseError(f"--html {name} would overwrite an input: choose another name")
        if os.path.isfile(name) and not self._force and not _is_ours(name):
            raise MisuseError(
                f"{name} exists and is not a page of this tool: choose another name, or overwrite "
                "it with --force"
            )
        folder = os.path.dirname(name) or "."
        if not os.path.isdir(folder):
            raise MisuseError(f"cannot write {name}: folder {folder} does not exist")
        if os.path.isdir(name):
            raise MisuseError(f"cannot write {name}: it is a folder")

    def check_files(self, files: Sequence[object]) -> None:
        """Raise :class:`MisuseError` if a page would be about several files."""
        if self._page is not None and len(files) > 1:
            raise MisuseError("--html is for one file")

    def check_sites(self, urls: Sequence[str]) -> None:
        """Raise :class:`MisuseError` if a page would be about URLs of several sites."""
        from scrapy_robotspec.access.origin import Origin

        if self._page is not None and len({Origin.of(url) for url in urls}) > 1:
            raise MisuseError("--html is for URLs of one site, as the page shows one robots.txt")

    def write(
        self,
        session: Session,
        name: str,
        robots: RobotsTxt | None,
        answers: PageAnswers,
        asked: Sequence[Crawler] = (),
    ) -> None:
        """Write the page, if there is one: the answers, and the file.

        ``asked``: more crawlers whose groups are marked. The file of a site that answered is that
        of its first answer.
        """
        if self._page is None:
            return
        from scrapy_robotspec.render.as_html import answers_page
        from scrapy_robotspec.render.parsed_file import ParsedFile

        site = answers.first_site()
        if site is not None:
            robots = site.robots
            name = site.origin.robots_url if site.origin is not None else site.url
        file = ParsedFile(robots) if robots is not None else None
        text = answers_page(name, file, answers, now=time(), asked=asked)
        if self.is_page_only:
            sys.stdout.write(text)
            return
        try:
            with open(self._page, "w", encoding="utf-8", newline="\n") as file_:
                file_.write(text)
        except OSError as error:
            raise MisuseError(f"cannot write {self._page!r}: {error.strerror}") from error
        session.screen.note(f"page written: {self._page}")


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
