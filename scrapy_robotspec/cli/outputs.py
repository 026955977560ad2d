"""Writes pages without destroying anything: no input, no file of another tool."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from time import time
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.session import MisuseError, Session

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens

STANDARD_OUTPUT = "-"

#: Found near the beginning of each page that this tool writes.
MARK = b'<meta name="generator" content="scrapy_robotspec'
_MARK_WITHIN = 4096  # bytes


class Output(NamedTuple):
    """The form of a command's answers: lines, JSON, and a page."""

    as_json: bool
    """JSON instead of text."""
    html: str | None = None
    """The file of the page; ``-``: standard output, in place of the lines; None: no page."""
    force: bool = False
    """Whether the page may overwrite a file of another tool."""

    @property
    def is_page_only(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self.html == STANDARD_OUTPUT

    def check(self, inputs: Iterable[str | None]) -> None:
        """Raise :class:`MisuseError` unless the page may be written.

        It must not be one of ``inputs``, nor an existing file of another tool without ``force``.
        """
        name = self.html
        if name is None or self.is_page_only:
            return
        if any(_is_same(name, given) for given in inputs if given is not None):
            raise MisuseError(f"--html {name} would overwrite an input: choose another name")
        if os.path.isfile(name) and not self.force and not _is_ours(name):
            raise MisuseError(
                f"{name} exists and is not a page of this tool: choose another name, or overwrite "
                "it with --force"
            )
        folder = os.path.dirname(name) or "."
        if not (name and os.path.isdir(folder)):
            raise MisuseError(
                f"cannot write {name!r}: give the name of a file in a folder that exists"
            )

    def check_single(self, files: Collection[object]) -> None:
        """Raise :class:`MisuseError` if a page would be about several files or sites."""
        if self.html is not None and len(files) > 1:
            remedy = "call it for each of them, with a page of its own"
            raise MisuseError(f"--html is for one file, or for URLs of one site: {remedy}")

    def write(
        self,
        session: Session,
        name: str,
        file: ParsedFile | None,
        answers: Sequence[Explanation],
        asked: Sequence[Tokens] = (),
    ) -> None:
        """Write the page, if there is one: the answers, and the file.

        It is made to be sent, so its URLs have no password. ``asked``: more crawlers whose groups
        are marked.
        """
        if self.html is None:
            return
        from scrapy_robotspec.access.origin import without_user_info
        from scrapy_robotspec.render.as_html import answers_page

        found = [each._replace(url=without_user_info(each.url)) for each in answers]
        self.write_page(session, answers_page(name, file, found, now=time(), asked=asked))

    def write_page(self, session: Session, text: str) -> None:
        """Write a page that was asked for."""
        if self.html is None or self.is_page_only:
            sys.stdout.write(text)
            return
        write_file(self.html, text.encode())
        session.screen.note(f"page written: {self.html}")


def write_file(name: str, contents: bytes) -> None:
    """Replace a file, or the target of a link, as a whole.

    Raises :class:`MisuseError` where the system refuses.
    """
    from scrapy_robotspec.files import replacing

    is_link = os.path.islink(name) and os.path.isfile(name)
    target = os.path.realpath(name) if is_link else name
    try:
        with interruptible(), replacing(target) as file:
            file.write(contents)
    except OSError as error:
        raise MisuseError(f"cannot write {name}: {error.strerror}") from error


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C and at SIGTERM, which clusters send.

    Otherwise they end the process at once, and leave what was begun."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, signal.default_int_handler) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _is_same(name: str, given: str) -> bool:
    with suppress(OSError, ValueError):
        if os.path.samefile(name, given):
            return True
    inside = os.path.realpath(given) + os.sep  # every file below a folder is an input
    return os.path.exists(name) and os.path.realpath(name).startswith(inside)


def _is_ours(name: str) -> bool:
    try:
        with open(name, "rb") as file:
            beginning = file.read(_MARK_WITHIN)
    except OSError:
        return False
    return not beginning or MARK in beginning
