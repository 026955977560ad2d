"""The parsers that are compared: this one, and each of its peers that is installed.

A peer is a function of a file: ``read(body)`` returns ``ask(url, token) -> bool``. Bytes are
decoded as the peer's own users do. Nothing is measured here.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str, str], bool]
    Read = Callable[[bytes], Ask]

OURS = "scrapy_robotspec"
PROTEGO = "Protego"
#: A crawler that hardly any file has a group for, as most crawlers are.
TOKEN = "unknownbot"


#: Crawlers that many files name, as studies of who blocks whom ask for them.
CRAWLERS = (
    *("GPTBot", "CCBot", "Googlebot", "bingbot", "ClaudeBot", "Bytespider", "Amazonbot"),
    *("PerplexityBot", "AhrefsBot", "SemrushBot", "Yandex", "Baiduspider", "Applebot"),
    *("PetalBot", "DotBot", "ia_archiver", "omgili", "cohere-ai", "Diffbot"),
)


def ours(body: bytes) -> Ask:
    """This parser."""
    return RobotsTxt.parse(body).allowed


def protego(body: bytes) -> Ask:
    """Protego, as Scrapy uses it."""
    module = importlib.import_module("protego")
    can_fetch = module.Protego.parse(body.decode("utf-8-sig", "ignore")).can_fetch
    return lambda url, token: bool(can_fetch(url, token))


def _urllib(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        parser = module.RobotFileParser()
        parser.parse(body.decode("utf-8", "replace").splitlines())
        return lambda url, token: bool(parser.can_fetch(token, url))

    return read


def _robotspy(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        can_fetch = module.RobotsParser.from_string(body.decode("utf-8-sig", "replace")).can_fetch
        return lambda url, token: bool(can_fetch(token, url))

    return read


def _rerp(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        parser = module.RobotExclusionRulesParser()
        parser.parse(body.decode("utf-8-sig", "ignore"))
        return lambda url, token: bool(parser.is_allowed(token, url))

    return read


def _gpyrobotstxt(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        matcher = module.RobotsMatcher()

        def ask(url: str, token: str) -> bool:
            try:
                return bool(matcher.allowed_by_robots(body, [token], url))
            except TypeError:  # a line with a field and no colon, in some files
                return True

        return ask

    return read


def _reppy(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        robots = module.Robots.parse("", body)
        return lambda url, token: bool(robots.allowed(url, token))

    return read


#: Peers that read the whole file again for each question.
READ_AGAIN = frozenset({"gpyrobotstxt"})

#: Name -> the module to look for, and how to use it.
_PEERS: dict[str, tuple[str, Callable[[Any], Read]]] = {
    "urllib.robotparser": ("urllib.robotparser", _urllib),
    "robotspy": ("robots", _robotspy),
    "robotexclusionrulesparser": ("robotexclusionrulesparser", _rerp),
    "gpyrobotstxt": ("gpyrobotstxt.robots_cc", _gpyrobotstxt),
    "reppy": ("reppy.robots", _reppy),
}


def find_peers() -> dict[str, Read]:
    """This parser and every peer that can be imported; Protego always, as Scrapy brings it."""
    found: dict[str, Read] = {OURS: ours, PROTEGO: protego}
    for name, (module, use) in _PEERS.items():
        if find_spec(module.partition(".")[0]) is None:
            print(f"{name}: not installed, left out")
        else:
            found[name] = use(importlib.import_module(module))
    return found
