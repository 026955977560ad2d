"""The parsers that are compared: this one, and each of its peers that is installed.

A peer is a function of a file: ``read(body)`` returns ``ask(url, token) -> bool``. Bytes are
decoded as the peer's own users do. Nothing is measured here.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
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


def _google(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        matcher = module.RobotsMatcher()
        return lambda url, token: bool(matcher.AllowedByRobots(body, [token], url))

    return read


def _fast_robotstxt(module: Any) -> Read:
    def read(body: bytes) -> Ask:
        text, matcher = body.decode("utf-8", "replace"), module.RobotsMatcher()
        return lambda url, token: bool(matcher.is_allowed(text, token, url))

    return read


#: Google's matcher in C++, and a fork of it with other verdicts, which is compared for speed alone.
NATIVE = ("jwm.robotstxt", "fast-robotstxt")
#: Peers that read the whole file again for each question.
READ_AGAIN = frozenset({"gpyrobotstxt", *NATIVE})
#: Where ``pip install --no-deps --target`` puts fast-robotstxt: its module has the name of another
#: parser's.
_FAST_ROBOTSTXT = Path(__file__).parents[1] / ".peers/fast-robotstxt/robotstxt/__init__.py"

#: Name -> the module to look for, and how to use it.
_PEERS: dict[str, tuple[str, Callable[[Any], Read]]] = {
    "urllib.robotparser": ("urllib.robotparser", _urllib),
    "robotspy": ("robots", _robotspy),
    "robotexclusionrulesparser": ("robotexclusionrulesparser", _rerp),
    "gpyrobotstxt": ("gpyrobotstxt.robots_cc", _gpyrobotstxt),
    "reppy": ("reppy.robots", _reppy),
    NATIVE[0]: ("jwm.robotstxt.googlebot", _google),
}


def find_peers() -> dict[str, Read]:
    """This parser and every peer that can be imported; Protego always, as Scrapy brings it."""
    found: dict[str, Read] = {OURS: ours, PROTEGO: protego}
    for name, (module, use) in _PEERS.items():
        if find_spec(module.partition(".")[0]) is None:
            print(f"{name}: not installed, left out")
        else:
            found[name] = use(importlib.import_module(module))
    if _FAST_ROBOTSTXT.exists():
        found[NATIVE[1]] = _fast_robotstxt(_loaded("fast_robotstxt", _FAST_ROBOTSTXT))
    else:
        print(f"{NATIVE[1]}: not installed, left out")
    return found


def _loaded(name: str, path: Path) -> Any:
    """The package at a path, by a name of its own."""
    spec = spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
