"""How the Python parsers of ``peers.json`` are asked.

Each is asked through its public API, with bytes decoded as its own users or its own fetching code
do. A module is imported when its parser is opened, so none needs to be installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: Answers a question about a file: question, file, tokens, URL, and the whole request.
    Answer = Callable[[str, bytes, Sequence[str], str, Mapping[str, Any]], Any]


class UnsupportedError(Exception):
    """The parser has no function for this question; its message says which."""


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


def _open_respectscraper() -> Answer:
    parse = import_module("respectscraper.robots").RobotsTxt.parse

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        robots = parse(body.decode("utf-8-sig", "replace"))
        match question:
            case "allowed":
                return robots.check(url, _one(tokens))[0]
            case "sitemaps":
                return list(robots.sitemaps)
            case "crawl_delay":
                return robots.check("http://example.com/", _one(tokens))[3]
        raise UnsupportedError(question)

    return answer


def _open_robotstxt() -> Answer:
    read = import_module("robotstxt").RobotsFile

    def answer(question: str, body: bytes, tokens: Sequence[str], url: str, _: object) -> Any:
        robots = read(body.decode("utf-8", "replace"))
        match question:
            case "allowed":
                return not robots.test_url(url, _one(tokens))["disallowed"]
            case "sitemaps":
                return [sitemap.url for sitemap in robots.sitemaps]
        raise UnsupportedError(question)

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


ADAPTERS: Mapping[str, Callable[[], Answer]] = {
    "scrapy-robotspec": _open_ours,
    "protego": _open_protego,
    "robotspy": _open_robotspy,
    "google/robotstxt": _open_google,
    "robotstxt": _open_rust,
    "respectscraper": _open_respectscraper,
    "robotstxt (Python)": _open_robotstxt,
    "gpyrobotstxt": _open_gpyrobotstxt,
    "robotexclusionrulesparser": _open_rerp,
    "urllib.robotparser": _open_urllib,
}
