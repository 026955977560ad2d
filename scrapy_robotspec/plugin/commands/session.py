"""One call of ``scrapy robotspec``: settings, the crawl that asks, output and exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError
from scrapy.utils.misc import load_object
from w3lib.url import is_url

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.addon import Addon
from scrapy_robotspec.plugin.commands import telling
from scrapy_robotspec.plugin.commands.asking import Asking, AskingSpider, Road
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.show.as_json import dumps
from scrapy_robotspec.show.book import Book
from scrapy_robotspec.show.pages import road_page
from scrapy_robotspec.show.terminal import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings

#: What must not happen because somebody asks a question: output of the project overwritten, its
#: queue touched, its pipelines run. And a person is watching, so nothing waits for long.
_ONLY_ASKING: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "ROBOTSPEC_DRY_RUN": False,
    "JOBDIR": None,
    "FEEDS": {},
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSPEC_REPORT": None,
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
}


def run(process: CrawlerProcessBase, action: str, urls: list[str], opts: argparse.Namespace) -> int:
    """Ask and tell; the result is the exit code."""
    urls = [*urls, *_listed(opts.urls)]
    _check(action, urls, opts)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    screen = Screen(sys.stdout, sys.stderr, os.environ)
    _note_missing(process.settings, screen)
    _adapt(process.settings, opts)
    try:
        Settings.from_scrapy(process.settings, warn=False)
    except ConfigurationError as error:
        screen.note(str(error))
        return telling.MISUSE
    teller = _Teller(action, len(urls), opts, screen)
    asking = Asking(urls, teller.tell, together=action == "check")
    process.crawl(AskingSpider, asking=asking)
    process.start()
    teller.end()
    if asking.problem:
        screen.note(asking.problem)
    if not asking.done:
        return telling.MISUSE
    if opts.html:
        teller.write_page()
    return teller.exit_code


class _Teller:
    """Tells each road as soon as its end is reached, and remembers the worst."""

    def __init__(self, action: str, total: int, opts: argparse.Namespace, screen: Screen) -> None:
        self._action = action
        self._total = total
        self._opts = opts
        self._screen = screen
        self._roads: list[Road] = []
        self._told = 0
        self.exit_code = telling.ALLOWED

    def tell(self, road: Road) -> None:
        """Print one road."""
        self.exit_code = max(self.exit_code, telling.exit_code(road))
        if self._opts.html:
            self._roads.append(road)
        if self._action == "check":
            self._check(road)
        else:
            self._explain(road)
        self._told += 1
        self._screen.done(self._told, self._total, "asked")
        self._screen.out.flush()

    def _check(self, road: Road) -> None:
        if self._opts.disallowed and telling.exit_code(road) == telling.ALLOWED:
            return
        if self._opts.json:
            self._screen.say(dumps(telling.short_object(road)))
        else:
            self._screen.say(telling.short(road, self._screen))

    def _explain(self, road: Road) -> None:
        if self._opts.json:
            self._screen.say(dumps(telling.long_object(road)))
            return
        if self._told:
            self._screen.say()
        for line in telling.long(road, self._screen):
            self._screen.say(line)

    def end(self) -> None:
        """Everything is told."""
        self._screen.clear()

    def write_page(self) -> None:
        """The page for the one origin that was asked about."""
        road = self._roads[0]
        known = road.known
        robots = known.robots if known is not None else None
        name = str(known.origin) if known is not None else road.url
        page = road_page(
            f"the robots.txt of {name}",
            "".join(map(telling.road_html, self._roads)),
            Book(robots) if robots is not None else None,
            [one.answer for one in self._roads if one.answer is not None],
        )
        Path(self._opts.html).write_text(page, encoding="utf-8", newline="\n")
        self._screen.note(f"page written: {self._opts.html}")


def _listed(name: str | None) -> list[str]:
    if name is None:
        return []
    try:
        text = Path(name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def _check(action: str, urls: list[str], opts: argparse.Namespace) -> None:
    """Raise UsageError for what cannot be asked."""
    if not urls:
        raise UsageError("give at least one URL, or a list with --urls FILE")
    wrong = [url for url in urls if Origin.of(url) is None and not _has_scheme(url)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no URL: write https://{wrong[0].lstrip('/')}")
    if opts.edition is not None and opts.edition not in EDITIONS:
        raise UsageError(f"no such edition: {opts.edition!r}; use one of {', '.join(EDITIONS)}")
    if opts.timeout <= 0:
        raise UsageError("--timeout wants a number of seconds above 0")
    if opts.html and (action != "explain" or len({Origin.of(url) for url in urls}) > 1):
        raise UsageError("--html is for explain, and for URLs of one origin")


def _has_scheme(url: str) -> bool:
    return is_url(url) or url.partition(":")[0].lower() in ("data", "about", "s3")


def _note_missing(settings: BaseSettings, screen: Screen) -> None:
    """A project's crawls may not do what we are about to tell: say so."""
    if not (_has_addon(settings) or _has_middleware(settings)):
        screen.note("note: ADDONS of the project lacks scrapy_robotspec.Addon; told as if it were")
    elif not settings.getbool("ROBOTSTXT_OBEY"):
        screen.note("note: ROBOTSTXT_OBEY is off in the project; told as if it were on")


def _has_addon(settings: BaseSettings) -> bool:
    return _has(Addon, settings.getdict("ADDONS"))


def _has_middleware(settings: BaseSettings) -> bool:
    return _has(RobotSpecMiddleware, settings.getdict("DOWNLOADER_MIDDLEWARES"))


def _has(component: type, chosen: Mapping[Any, Any]) -> bool:
    """Whether a class, named by itself or by its import path, is among those switched on."""
    return any(_is(component, key) for key, place in chosen.items() if place is not None)


def _is(component: type, key: Any) -> bool:
    if not isinstance(key, str):
        return key is component
    try:
        return load_object(key) is component
    except Exception:  # somebody else's, and broken: Scrapy will tell
        return False


def _adapt(settings: BaseSettings, opts: argparse.Namespace) -> None:
    """The project's settings, with the questioner's wishes over them."""
    for name, value in _ONLY_ASKING.items():
        settings.set(name, value, priority="cmdline")
    with suppress(TypeError, ValueError):  # the add-on will say what is wrong with it
        timeout = min(opts.timeout, float(settings.get("ROBOTSPEC_FETCH_TIMEOUT", opts.timeout)))
        settings.set("ROBOTSPEC_FETCH_TIMEOUT", timeout, priority="cmdline")
    if not _has_addon(settings):
        addons = {**settings.getdict("ADDONS"), Addon: 500}
        settings.set("ADDONS", addons, priority="cmdline")
    if opts.token:
        settings.set("ROBOTSPEC_USER_AGENT_TOKEN", opts.token, priority="cmdline")
    if opts.edition:
        settings.set("ROBOTSPEC_EDITION", opts.edition, priority="cmdline")
