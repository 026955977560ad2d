"""Python parsers that the suite knows: how each is asked, and which specifications it claims.

Each is asked through its public API, with bytes decoded as its own users or its own fetching code
do. A module is imported when its parser is opened, so none needs to be installed.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: Answers a question about a file: question, file, tokens, URL, and the whole request.
    Answer = Callable[[str, bytes, Sequence[str], str, Mapping[str, Any]], Any]


class UnsupportedError(Exception):
    """The parser has no function for this question; its message says which."""


@dataclass(frozen=True)
class Adapter:
    """A parser, its claims, and how to open it."""

    name: str
    distribution: str
    """Name of its distribution; empty for the standard library."""
    claims: tuple[str, ...]
    """Specifications that it claims to follow."""
    claim: str
    """Its claim in our words."""
    link: str
    open: Callable[[], Answer]
    """Imports the parser; ``ImportError`` where it is not installed."""
    language: str = "Python"
    install: str = "python3 run.py conformance"
    """A command that installs the parser, in the folder above this one."""
    wrapped: bool = False
    """Whether the distribution contains a parser of another project."""

    def command(self) -> list[str]:
        """The command that responds to requests."""
        return [sys.executable, "-m", "conformance.serve", self.name]

    def version(self) -> str | None:
        """The installed version, or None."""
        if not self.distribution:
            return f"of Python {platform.python_version()}"
        try:
            version = metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None
        return f"in {self.distribution} {version}" if self.wrapped else version


def _open_ours() -> Answer:
    module = import_module("scrapy_robotspec")
    editions = {
        "original-1994": "classic",
        "usage": "google-2019",
        "extensions": "google-2019",
    }

    def answer(
        question: str, body: bytes, tokens: Sequence[str], url: str, request: Mapping[str, Any]
    ) -> Any:
        specification = request["specification"]
        robots = module.RobotsTxt.parse(body, editions.get(specification, specification))
        match question:
            case "allowed":
                return robots.allowed(url, tokens)
            case "applies":
                return module.Origin.of(url) == module.Origin.of(request["robots_url"])
            case "sitemaps":
                return list(robots.sitemaps)
            case "licenses":
                return list(robots.licenses)
            case "crawl_delay":
                return robots.crawl_delay(tokens)
            case "other":
                return [[line.field, line.value] for line in robots.other(tokens)]
            case "usage":
                usage = robots.usage(url, tokens)
                return dict(usage.preferences) if usage.applies else None
        raise UnsupportedError(question)

    return answer


def _open_protego() -> Answer:
    parse = import_module("protego").Protego.parse

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        robots = parse(body.decode("utf-8-sig", "ignore"))
        match question:
            case "allowed":
                return robots.can_fetch(url, _one(tokens))
            case "sitemaps":
                return list(robots.sitemaps)
            case "crawl_delay":
                return robots.crawl_delay(_one(tokens))
        raise UnsupportedError(question)

    return answer


def _open_urllib() -> Answer:
    parser = import_module("urllib.robotparser").RobotFileParser

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        robots = parser()
        robots.parse(body.decode("utf-8").splitlines())
        match question:
            case "allowed":
                return robots.can_fetch(_one(tokens), url)
            case "sitemaps":
                return robots.site_maps() or []
            case "crawl_delay":
                return robots.crawl_delay(_one(tokens))
        raise UnsupportedError(question)

    return answer


def _open_robotspy() -> Answer:
    parse = import_module("robots").RobotsParser.from_string

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        robots = parse(body.decode("utf-8-sig", "replace"))
        match question:
            case "allowed":
                return robots.can_fetch(_one(tokens), url)
            case "sitemaps":
                return robots.sitemaps or []
        raise UnsupportedError(question)

    return answer


def _open_gpyrobotstxt() -> Answer:
    matcher = import_module("gpyrobotstxt.robots_cc").RobotsMatcher

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        if question != "allowed":
            raise UnsupportedError(question)
        return matcher().allowed_by_robots(body, list(tokens), url)

    return answer


def _open_google() -> Answer:
    matcher = import_module("jwm.robotstxt.googlebot").RobotsMatcher

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        if question != "allowed":
            raise UnsupportedError(question)
        return matcher().AllowedByRobots(body, list(tokens), url)

    return answer


def _open_rust() -> Answer:
    connection = import_module("apsw").Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(import_module("sqlite_robotstxt").loadable_path())

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        if question != "allowed":
            raise UnsupportedError(question)
        values = (body.decode("utf-8-sig", "replace"), _one(tokens), url)
        ((allowed,),) = connection.execute("SELECT robotstxt_matches(?, ?, ?)", values)
        return bool(allowed)

    return answer


def _open_rerp() -> Answer:
    module = import_module("robotexclusionrulesparser")

    def answer(
        question: str, body: bytes, tokens: Sequence[str], url: str, request: Mapping[str, Any]
    ) -> Any:
        robots = module.RobotExclusionRulesParser()
        robots.parse(body.decode("utf-8-sig", "ignore"))
        match question:
            case "allowed":
                old = request["specification"] in ("original-1994", "draft-1996", "classic")
                syntax = module.MK1996 if old else module.GYM2008
                return robots.is_allowed(_one(tokens), url, syntax)
            case "sitemaps":
                return list(robots.sitemaps)
            case "crawl_delay":
                return robots.get_crawl_delay(_one(tokens))
        raise UnsupportedError(question)

    return answer


def _one(tokens: Sequence[str]) -> str:
    if len(tokens) != 1:
        raise UnsupportedError(f"{len(tokens)} tokens at once")
    return tokens[0]


ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        Adapter(
            "scrapy-robotspec",
            "scrapy-robotspec",
            (
                *("rfc9309", "google", "google-2019", "google-2010", "classic"),
                *("original-1994", "usage", "extensions"),
            ),
            "An edition for each of these specifications; this suite is part of it.",
            "https://scrapy-robotspec.readthedocs.io/",
            _open_ours,
        ),
        Adapter(
            "protego",
            "Protego",
            ("rfc9309", "extensions"),
            "The rules of RFC 9309 for parsing and matching, and crawl-delay; limits on the size "
            "of a file are left to its caller.",
            "https://github.com/scrapy/protego",
            _open_protego,
        ),
        Adapter(
            "robotspy",
            "robotspy",
            ("rfc9309",),
            "Most of RFC 9309.",
            "https://github.com/andreburgaud/robotspy",
            _open_robotspy,
        ),
        Adapter(
            "google/robotstxt",
            "jwm.robotstxt",
            ("google",),
            "Google's own matcher; jwm.robotstxt makes a Python module of it.",
            "https://github.com/google/robotstxt",
            _open_google,
            "C++",
            wrapped=True,
        ),
        Adapter(
            "robotstxt",
            "sqlite-robotstxt",
            ("google",),
            "All behaviour of Google's matcher, as a port to Rust (0.3.0); sqlite-robotstxt makes "
            "an SQLite function of it.",
            "https://github.com/Folyd/robotstxt",
            _open_rust,
            "Rust",
            wrapped=True,
        ),
        Adapter(
            "gpyrobotstxt",
            "gpyrobotstxt",
            ("google",),
            "All behaviour of Google's matcher, as a port to Python.",
            "https://github.com/Cocon-Se/gpyrobotstxt",
            _open_gpyrobotstxt,
        ),
        Adapter(
            "robotexclusionrulesparser",
            "robotexclusionrulesparser",
            ("original-1994", "draft-1996"),
            "The convention of 1994, the draft of 1996, and wildcards as announced in 2008.",
            "http://nikitathespider.com/python/rerp/",
            _open_rerp,
        ),
        Adapter(
            "urllib.robotparser",
            "",
            ("original-1994",),
            "Its documentation names the convention of 1994 for the structure of the file.",
            "https://docs.python.org/3/library/urllib.robotparser.html",
            _open_urllib,
        ),
    )
}
