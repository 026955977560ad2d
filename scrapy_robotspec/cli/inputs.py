"""What a command line names: files, URL lists and crawlers, read and checked.

Nothing is asked here. Whatever the user got wrong is a :class:`MisuseError` that says how to do it.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import get_edition
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.show.book import Book

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.show.terminal import Screen

STANDARD_INPUT = "-"

#: What a crawler is asked for by: its tokens; none stand for a crawler that no group names.
Crawler = tuple[str, ...]

_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://")
_AUTHORITY = re.compile(rb"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_TOKEN = re.compile(r"[A-Za-z_-]+")


class MisuseError(Exception):
    """The command line cannot be answered: the message says what to write instead."""


def shown_name(name: str) -> str:
    """What a file is called in answers."""
    return "<stdin>" if name == STANDARD_INPUT else name


def read_robots(name: str, edition: str) -> RobotsTxt:
    """The robots.txt file of that name, as an edition reads it."""
    followed = get_edition(edition)
    return RobotsTxt.parse(read_file(name, followed.parsing_limit + 1), followed)


def read_file(name: str, limit: int = -1) -> bytes:
    """Up to ``limit`` octets of a file."""
    if re.match(r"(https?|ftp)://", name):
        raise MisuseError(
            f"{name} is a URL, and nothing is fetched here: give a file, or - and the content on "
            "standard input. In a Scrapy project, 'scrapy robotspec explain URL' asks the site"
        )
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(limit)
        with Path(name).open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror}") from error


def read_urls(args: argparse.Namespace, screen: Screen, *files: str) -> list[bytes]:
    """The URLs of a command line and of its list, in order. ``files``: what else it reads."""
    if (args.urls, *files).count(STANDARD_INPUT) > 1:
        raise MisuseError("standard input (-) can be read for one thing only")
    urls = [os.fsencode(url) for url in args.url]
    for url in urls:
        _check(url, "")
    if args.urls is not None:
        urls += _listed(args.urls)
    _note_origins(urls, screen)
    return urls


def some_urls(args: argparse.Namespace, screen: Screen, *files: str) -> list[bytes]:
    """As :func:`read_urls`, and no URL at all is misuse."""
    urls = read_urls(args, screen, *files)
    if not urls:
        raise MisuseError("give at least one URL or path, or a list with --urls FILE")
    return urls


def _listed(name: str) -> list[bytes]:
    lines = [line.strip() for line in read_file(name).splitlines()]
    for number, line in enumerate(lines, 1):
        if line:
            _check(line, f"line {number} of {name}: ")
    return [line for line in lines if line]


def _check(url: bytes, where: str) -> None:
    """The first word of ``example.com/page`` could be a host or a folder: neither is guessed."""
    if url.startswith(b"/") or _SCHEME.match(url):
        return
    shown = decode(url)
    raise MisuseError(
        f"{where}{shown!r} is neither a URL nor a path: write https://{shown}, or /{shown}"
    )


def _note_origins(urls: Iterable[bytes], screen: Screen) -> None:
    """One file is valid for one origin; whoever asks for several should know (LOC-02)."""
    origins = {match[0].lower() for url in urls if (match := _AUTHORITY.match(url))}
    if len(origins) > 1:
        screen.note(
            f"note: the URLs belong to {len(origins)} origins; each has a robots.txt of its own, "
            "and this file is valid for one of them"
        )


def tokens_from_user_agent(args: argparse.Namespace, edition: Edition) -> Crawler:
    """The tokens of the command line."""
    for token in args.token:
        _check_token(token, edition)
    return tuple(args.token)


def _check_token(token: str, edition: Edition) -> None:
    """A name that no group can have would silently be anybody's."""
    if edition.whole_agent_names or _TOKEN.fullmatch(token):
        return
    leading = _TOKEN.match(token)
    remedy = f"; a group for it names {leading[0]}: give --token {leading[0]}" if leading else ""
    raise MisuseError(
        f"{token!r} is no product token, which has only letters, hyphens and underscores{remedy}"
    )


def crawlers(args: argparse.Namespace, *files: RobotsTxt) -> list[Crawler]:
    """Every crawler to ask for: the one of the command line, or each that the files name."""
    if not args.each_token:
        return [tokens_from_user_agent(args, files[0].edition)]
    return named_crawlers(files)


def named_crawlers(files: Sequence[RobotsTxt]) -> list[Crawler]:
    """Each crawler that one of the files names, as first written, then any other."""
    names: dict[str, str] = {}
    for robots in files:
        for token in Book(robots).tokens:
            names.setdefault(token.lower(), token)
    return [*((name,) for name in names.values()), ()]
