"""Writes pages without destroying anything: no input, no file of another tool."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.cli.errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy_robotspec.render.terminal import Screen

STANDARD_OUTPUT = "-"

#: Found near the beginning of each page that this tool writes.
MARK = b'<meta name="generator" content="scrapy_robotspec'
_MARK_WITHIN = 4096  # bytes


class Page(NamedTuple):
    """A page to write, checked before the work begins."""

    name: str

    @property
    def is_stdout(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self.name == STANDARD_OUTPUT

    def write(self, text: str, screen: Screen) -> None:
        """Write a page. Raises :class:`MisuseError` where the system refuses."""
        if self.is_stdout:
            sys.stdout.write(text)
            return
        try:
            with open(self.name, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise MisuseError(f"cannot write {self.name}: {error.strerror}") from error
        screen.note(f"page written: {self.name}")


class Output(NamedTuple):
    """The form of the answers of a command."""

    as_json: bool
    """JSON instead of text."""
    page: Page | None
    """Written besides the answers, or in their place."""

    @property
    def is_page_only(self) -> bool:
        """Whether the page takes the place of the answers on standard output."""
        return self.page is not None and self.page.is_stdout


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
        if self.html is None:
            return Output(self.as_json, None)
        if self.html != STANDARD_OUTPUT:
            check_output(self.html, inputs, self.force, _is_ours)
        return Output(self.as_json, Page(self.html))


def check_output(
    name: str,
    inputs: Iterable[str | None],
    force: bool,
    is_ours: Callable[[str], bool],
    option: str = "--html",
) -> None:
    """Raise :class:`MisuseError` unless a file may be written.

    ``is_ours`` says whether an existing file was written by this tool.
    """
    if any(_is_same(name, given) for given in inputs if given not in (None, "-")):
        raise MisuseError(f"{option} {name} would overwrite an input: choose another name")
    if os.path.isfile(name) and not force and not is_ours(name):
        kind = "a page" if option == "--html" else "an output"
        raise MisuseError(
            f"{name} exists and is not {kind} of this tool: choose another name, or overwrite it "
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
