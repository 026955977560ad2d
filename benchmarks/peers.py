"""The parsers that are compared: this one, and each of its peers that is installed.

A peer is a function of a file: ``read(body)`` returns ``ask(url) -> bool``. Bytes are
decoded as the peer's own users do. Nothing is measured here.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str], bool]
    Read = Callable[[bytes], Ask]
    ReadFor = Callable[[bytes], Callable[[str, str], bool]]

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


def read_for_names(body: bytes) -> Callable[[str, str], bool]:
    """This parser, asked for any crawler."""
    return RobotsTxt.parse(body).allowed


def protego_for_names(body: bytes) -> Callable[[str, str], bool]:
    """Protego, asked for any crawler."""
    module = importlib.import_module("protego")
    can_fetch = module.Protego.parse(body.decode("utf-8-sig", "ignore")).can_fetch
    return lambda url, token: bool(can_fetch(url, token))


def _read_ours(body: bytes) -> Ask:
    allowed = RobotsTxt.parse(body).allowed
    return lambda url: allowed(url, TOKEN)


def _protego(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        can_fetch = module.Protego.parse(body.decode("utf-8-sig", "ignore")).can_fetch
        return lambda url: bool(can_fetch(url, TOKEN))

    return read


def _urllib(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        parser = module.RobotFileParser()
        parser.parse(body.decode("utf-8", "replace").splitlines())
        return lambda url: bool(parser.can_fetch(TOKEN, url))

    return read


def _rerp(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        parser = module.RobotExclusionRulesParser()
        parser.parse(body.decode("utf-8-sig", "ignore"))
        return lambda url: bool(parser.is_allowed(TOKEN, url))

    return read


def _gpyrobotstxt(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        matcher = module.RobotsMatcher()

        def ask(url: str) -> bool:
            try:
                return bool(matcher.allowed_by_robots(body, [TOKEN], url))
            except TypeError:  # a line with a field and no colon, in some files
                return True

        return ask

    return read


def _reppy(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        agent = module.Robots.parse("", body).agent(TOKEN)
        return lambda url: bool(agent.allowed(url))

    return read


#: Peers that read the whole file again for each question.
READ_AGAIN = frozenset({"gpyrobotstxt"})

#: Name -> the module to look for, and how to use it.
_PEERS: dict[str, tuple[str, Callable[[Any], Read]]] = {
    PROTEGO: ("protego", _protego),
    "urllib.robotparser": ("urllib.robotparser", _urllib),
    "robotexclusionrulesparser": ("robotexclusionrulesparser", _rerp),
    "gpyrobotstxt": ("gpyrobotstxt.robots_cc", _gpyrobotstxt),
    "reppy": ("reppy.robots", _reppy),
}


def find_peers() -> dict[str, Read]:
    """This parser and every peer that can be imported; Protego always, as Scrapy brings it."""
    found: dict[str, Read] = {OURS: _read_ours}
    for name, (module, use) in _PEERS.items():
        if find_spec(module.partition(".")[0]) is None:
            print(f"{name}: not installed, left out")
        else:
            found[name] = use(importlib.import_module(module))
    return found
