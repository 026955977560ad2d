"""Reads what a command line names: files, folders, sites, URLs."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, urljoin

from scrapy_robotspec.cli.session import (
    GOOD,
    MISUSE,
    MOST,
    UNREACHABLE,
    MisuseError,
    Screen,
    Session,
    SiteError,
)
from scrapy_robotspec.protocol.file_kind import foreign_kind, format_of
from scrapy_robotspec.protocol.lines import part_in_words
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.render.explanation import Explanation

STANDARD_INPUT = "-"

#: Finds a host at the beginning of a name, if that is not the name of a file.
_HOST = re.compile(
    r"[\w-]+(\.[\w-]+)*\.(?!(txt|robots|xml|gz|log|json)$)[\w-]+(:\d+)?(/|$)", re.IGNORECASE
).match
#: A path, or a URL of a site. The first word of ``example.com/page`` could be a host or a folder.
_VALID = re.compile(rb"/|[A-Za-z][A-Za-z0-9+.-]*://")
#: Bytes other than UTF-8 as text has them (PEP 383).
_NOT_UTF_8 = re.compile("[\udc80-\udcff]+")
_SCHEMES = ("http://", "https://", "ftp://")
#: Bytes of a list that show that it is not text: packed ones have a zero there.
_HEAD = 16
#: Statuses that servers send to some clients alone.
_BY_CLIENT = (401, 403, 429)


class Source(NamedTuple):
    """One robots.txt file that a command line names."""

    name: str
    """As shown in answers."""
    path: str | None = None
    """A file, or ``-`` for standard input, which is read once; None for sites."""
    body: bytes = b""
    site: Explanation | None = None

    def read(self, limit: int = -1) -> bytes:
        """Up to ``limit`` bytes. Raises :class:`MisuseError` where that fails."""
        return self.body if self.path is None else read_file(self.path, limit)

    def parse(self, edition: Edition, screen: Screen | None = None) -> RobotsTxt:
        """The file as an edition reads it.

        ``screen``: for notes about a file that is cut, or that is not a robots.txt.
        """
        known = self.site and self.site.robots
        if known is None or known.edition != edition:
            known = RobotsTxt.parse(self.read(edition.parsing_limit + 1), edition)
        if screen is not None:
            note_contents(self.name, known, screen)
        return known


def note_contents(name: str, robots: RobotsTxt, screen: Screen) -> None:
    """Note a file that is cut, or has other contents (FET-20)."""
    shown = safe(name)
    if robots.truncated:
        part = part_in_words(robots.body)
        screen.note(f"note: {shown} is longer than the parsing limit: crawlers read {part}")
    if kind := format_of(robots.body) or foreign_kind(robots.body):
        found = sum(len(group.rules) for group in robots.groups)
        screen.note(f"note: {shown}: {kind.value}; the parser found {found:,} rules in it")


def note_site(name: str, site: Explanation, screen: Screen) -> None:
    """Note unusual contents, or a status that another client may not get."""
    if site.robots is not None:
        note_contents(name, site.robots, screen)
    elif site.decision is not None and (status := site.decision.status) in _BY_CLIENT:
        note = f"HTTP status {status} is what this client got; another one may get another response"
        screen.note(f"note: {safe(name)}: {note}")


def is_url(name: str) -> bool:
    """Whether a FILE names a site."""
    return name[:8].lower().startswith(_SCHEMES)


def is_pipe(name: str) -> bool:
    """Whether a path names a pipe or device, which is read once."""
    return os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name))


def for_site(name: str) -> str:
    """The remedy where a URL lacks its scheme; else empty."""
    is_host = _HOST(name) and not os.path.exists(name)
    return f"for a site, write https://{name}" if is_host else ""


def standard_input() -> BinaryIO:
    """Standard input. Raises :class:`MisuseError` where it is closed."""
    if sys.stdin is None:
        raise MisuseError("cannot read standard input (-): it is closed")
    return sys.stdin.buffer


def check_standard_input(*names: str | None) -> None:
    """Raise :class:`MisuseError` if two of the names stand for standard input."""
    if names.count(STANDARD_INPUT) > 1:
        raise MisuseError("standard input (-) can be read for one thing only")


def read_file(name: str, limit: int = -1) -> bytes:
    """Up to ``limit`` bytes of a file. Raises :class:`MisuseError` where that fails."""
    try:
        if name == STANDARD_INPUT:
            return standard_input().read(limit)
        with open(name, "rb") as file:
            return file.read(limit)
    except OSError as error:
        url = for_site(name) or "for a site, write https://example.com"
        remedy = f"give the path of a file, or - for standard input; {url}"
        raise MisuseError(f"cannot read {name!r}: {error.strerror}; {remedy}") from error
    except ValueError as error:  # a null character
        raise MisuseError(f"cannot read {name!r}: {error}") from error


def read_list(name: str) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a list, without blank lines and comments.

    Raises :class:`MisuseError` for a file that cannot be read.
    """
    data = read_file(name).removeprefix(b"\xef\xbb\xbf")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MisuseError(f"{name} is UTF-16: save it as UTF-8")
    if b"\0" in data[:_HEAD]:
        raise MisuseError(f"{name} is not text: unpack it, or save it as UTF-8")
    for number, raw in enumerate(data.splitlines(), 1):
        line = raw.strip()
        if line and not line.startswith(b"#"):
            yield number, line


def open_sources(names: Sequence[str], session: Session, *, single: bool = False) -> list[Source]:
    """The files of a command line.

    Folders are replaced by their files; all sites are queried in one crawl. A site without a file
    has an empty one, and is named. ``single``: each name stands for one file.

    Raises :class:`MisuseError` for a file that cannot be read.
    """
    check_standard_input(*names)
    answers: list[Explanation] = []
    urls = list(dict.fromkeys(robots_url(name) for name in names if is_url(name)))
    if urls:
        session.load_query()(lambda query: query.decide(urls), session.sites, answers.append)
    sites = {answer.url: answer for answer in answers}
    found = [source for name in names for source in _sources(name, sites)]
    if single and len(found) != len(names):
        raise MisuseError("give one file, not a folder of several")
    return [source for source in found if _is_usable(source, session.screen, single)]


def _is_usable(source: Source, screen: Screen, single: bool) -> bool:
    """Whether a site's response decides; names one without a file, and one with an override."""
    site = source.site
    if site is None or (site.robots is not None and site.reason != "override"):
        return True
    message = f"{source.name}: {site.detail}"
    is_usable = bool(site.allowed or site.robots is not None)
    if single and not is_usable:
        raise SiteError(message)
    screen.fail(safe(message, None), GOOD if is_usable else UNREACHABLE)
    note_site(source.name, site, screen)
    return is_usable


def origin_of(url: str) -> Origin | None:
    """The origin of a URL; None if that is not valid."""
    from scrapy_robotspec.access.origin import Origin  # few command lines need it

    return Origin.of(url)


def robots_url(url: str) -> str:
    """The URL of the robots.txt that governs a URL. Raises :class:`MisuseError`."""
    origin = origin_of(url)
    if origin is None:
        raise MisuseError(f"{url!r} is not a URL of a site")
    return origin.robots_url


def _sources(name: str, sites: dict[str, Explanation]) -> Iterator[Source]:
    if is_url(name):
        url = robots_url(name)
        robots = sites[url].robots
        yield Source(url, body=robots.body if robots else b"", site=sites[url])
    elif name != STANDARD_INPUT and os.path.isdir(name):
        from scrapy_robotspec.folders import TEXTS, files_of

        yield from (Source(path, path) for path in files_of(name, TEXTS)[0])
    else:
        if not is_pipe(name):
            read_file(name, 0)  # fail before the work begins
        yield Source("<stdin>" if name == STANDARD_INPUT else name, name)


class UrlOptions(NamedTuple):
    """Arguments and options that name URLs and paths."""

    given: Sequence[str]
    """On the command line."""
    listed: str | None
    """The file that contains more of them."""


def read_urls(options: UrlOptions, screen: Screen, *files: str | None) -> Sequence[str]:
    """The URLs of a command line, then those of its list.

    ``files``: the other inputs, for errors about them. Raises :class:`MisuseError` for a wrong
    argument; a wrong line of the list is reported and skipped.
    """
    given, listed = options
    check_standard_input(listed, *files)
    urls: list[str] = []
    for url in given:
        if not _VALID.match(os.fsencode(url)):
            remedy = for_site(url) or "write https://example.com/page, or /page, after FILE"
            raise MisuseError(f"{url!r} is neither a URL of a site nor a path: {remedy}")
        urls.append(url_text(os.fsencode(url)))
    if listed is None:
        return urls
    if is_url(listed):
        raise MisuseError(f"--urls names a file of URLs: write {listed} without --urls")
    bad: list[str] = []
    for number, line in read_list(listed):
        if _VALID.match(line):
            urls.append(url_text(line))
        else:
            bad.append(f"{listed}:{number}: neither a URL nor a path, skipped: {decode(line)}")
    screen.fail_some(bad[:MOST], len(bad), MISUSE)
    if not urls:
        raise MisuseError(f"{listed} lists no URL: write one URL or path a line")
    return urls


def url_text(raw: bytes) -> str:
    """A URL or path, with bytes other than UTF-8 percent-encoded."""
    text = raw.decode("utf-8", "surrogateescape")
    return _NOT_UTF_8.sub(lambda found: quote(found[0], errors="surrogateescape"), text)


def note_origins(urls: Iterable[str], screen: Screen) -> None:
    """Note URLs of several origins, as a file governs one (LOC-02)."""
    origins = {origin_of(url) for url in urls if is_url(url)} - {None}
    if len(origins) > 1:
        screen.note(
            f"note: the URLs belong to {len(origins)} origins; each has a robots.txt of its own, "
            "and this file governs one of them"
        )


def absolute(urls: Sequence[str], base: str | None) -> list[str]:
    """URLs and paths as URLs of sites.

    A path belongs to the site of the URL before it.

    Raises :class:`MisuseError` for a path without a valid URL before it.
    """
    found: list[str] = []
    for text in urls:
        if not text.startswith("/"):
            base = text if is_url(text) else base
        elif base is None:
            raise MisuseError(f"{text!r} belongs to no site: give a FILE or a URL before it")
        else:
            robots_url(base)  # fails for a URL without a valid host
            text = urljoin(base, text)
        found.append(text)
    return found
