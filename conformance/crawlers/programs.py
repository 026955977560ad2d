"""The programs that are tried, with the commands that start a crawl.

Each is set up as its manual shows it, with robots.txt obeyed where that is an option. Libraries
without a command have a small program in ``drivers/``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True, slots=True)
class Program:
    """A crawler of a registry.

    ``token`` is the name that its groups have. In ``command``, ``{url}`` stands for the first page,
    ``{host}`` for its host and port, ``{links}`` for the URLs of all pages, which programs without
    links to follow need, and ``{folder}`` for an empty folder.
    """

    registry: str
    package: str
    version: str
    token: str
    command: Sequence[str]
    more: Sequence[str] = ()
    title: str = ""

    def requirements(self) -> list[str]:
        """Packages with versions, as the registry's client reads them."""
        mark = {"debian": "=", "npm": "@", "pypi": "=="}[self.registry]
        end = "*" if self.registry == "debian" else ""
        return [f"{self.package}{mark}{self.version}{end}", *self.more]


def _debian(package: str, version: str, token: str, *command: str, title: str = "") -> Program:
    return Program("debian", package, version, token, command, title=title)


def _pypi(
    package: str, version: str, token: str, *command: str, title: str = "", more: Sequence[str] = ()
) -> Program:
    return Program("pypi", package, version, token, command, more, title)


def _npm(package: str, version: str, token: str, *command: str, title: str = "") -> Program:
    return Program("npm", package, version, token, command, title=title)


def _driver(name: str) -> tuple[str, ...]:
    """A program of ours, which gets the first page and the links."""
    interpreter = {"py": "python", "mjs": "node", "pl": "perl", "rb": "ruby"}[
        name.rpartition(".")[2]
    ]
    return interpreter, str(DRIVERS / name), "{url}", "{links}"


PROGRAMS: Mapping[str, Program] = {
    "wget": _debian("wget", "1.21.3", "Wget", "wget", "-q", "-r", "-l2", "--tries=2", "{url}"),
    "wget2": _debian("wget2", "1.99.1", "wget2", "wget2", "-q", "-r", "-l2", "--tries=2", "{url}"),
    "httrack": _debian(
        "httrack",
        "3.49.4",
        "HTTrack",
        "httrack",
        "{url}",
        "-q",
        "-O",
        "{folder}",
        "-r3",
        title="HTTrack",
    ),
    "linklint": _debian(
        "linklint",
        "2.3.5",
        "LinkLint",
        "linklint",
        "-http",
        "-host",
        "{host}",
        "-doc",
        "{folder}/doc",
        "/@",
    ),
    "checklink": _debian(
        "w3c-linkchecker",
        "5.0.0",
        "W3C-checklink",
        "checklink",
        "-q",
        "-r",
        "-D2",
        "{url}",
        title="W3C checklink",
    ),
    "robotua": _debian(
        "libwww-perl", "6.68", "examplebot", *_driver("robotua.pl"), title="LWP::RobotUA"
    ),
    "htdig": _debian(
        "htdig",
        "1:3.2.0b6",
        "htdig",
        "sh",
        str(DRIVERS / "htdig.sh"),
        "{url}",
        "{folder}",
        title="ht://Dig",
    ),
    "ruby-mechanize": _debian(
        "ruby-mechanize", "2.8.5", "Mechanize", *_driver("mechanize.rb"), title="Mechanize for Ruby"
    ),
    "ruby-spider": _debian(
        "ruby-spider", "0.5.0", "Ruby Spider", *_driver("spider.rb"), title="Ruby Spider"
    ),
    "linkchecker": _pypi(
        "LinkChecker",
        "10.6.0",
        "LinkChecker",
        "linkchecker",
        "--no-status",
        "-r2",
        "{url}",
        title="LinkChecker",
    ),
    "scrapy": _pypi(
        "Scrapy", "2.19.0", "Scrapy", *_driver("scrapy_crawl.py"), more=["Protego==0.7.0"]
    ),
    "crawlee-python": _pypi(
        "crawlee[beautifulsoup,httpx]",
        "1.11.0",
        "crawlee",
        *_driver("crawlee_crawl.py"),
        title="Crawlee for Python",
    ),
    "mechanize": _pypi(
        "mechanize",
        "0.4.10",
        "Python-urllib",
        *_driver("mechanize_crawl.py"),
        title="mechanize for Python",
    ),
    "brozzler": _pypi("brozzler", "1.9.6", "brozzler", *_driver("brozzler_check.py")),
    "pywebcopy": _pypi("pywebcopy", "7.1", "PyWebCopyBot", *_driver("pywebcopy_crawl.py")),
    "mcp-server-fetch": _pypi(
        "mcp-server-fetch", "2026.10.24", "ModelContextProtocol", *_driver("mcp_fetch.py")
    ),
    "fetchtron": _pypi("fetchtron", "0.2.0", "fetchtron", *_driver("fetchtron_get.py")),
    "respectscraper": _pypi(
        "respectscraper",
        "0.2.0",
        "RespectScraper",
        "respectscraper",
        "scrape",
        "--yes",
        "--depth",
        "2",
        "{url}",
    ),
    "grabpy": _pypi("grabpy", "0.1.3", "examplebot", *_driver("grabpy_get.py")),
    "webcanon": _pypi(
        "webcanon", "0.3.0", "WebCanon", *_driver("webcanon_get.py"), title="WebCanon"
    ),
    "crawlee-javascript": _npm(
        "crawlee", "3.18.1", "crawlee", *_driver("crawlee.mjs"), title="Crawlee for JavaScript"
    ),
    "simplecrawler": _npm("simplecrawler", "1.1.9", "simplecrawler", *_driver("simplecrawler.mjs")),
    "supercrawler": _npm("supercrawler", "2.0.0", "supercrawler", *_driver("supercrawler.mjs")),
    "broken-link-checker": _npm(
        "broken-link-checker", "0.7.8", "broken-link-checker", "blc", "-r", "-g", "{url}"
    ),
    "linkinator": _npm("linkinator", "7.6.1", "LINKINATOR", "linkinator", "{url}", "--recurse"),
}

#: Programs that were left out: npm installs the first without its binary, the second needs an
#: older Python than 3.11.
LEFT_OUT: Sequence[str] = ("spider-rs 0.0.163", "wpull 2.0.1")
