"""Visitors of a site: which crawlers keep to one robots.txt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.evidence.own_fetches import must_be_fetched
from scrapy_robotspec.protocol.agents import Names, product_name, tokens_from_user_agent
from scrapy_robotspec.protocol.lint.crawlers import IGNORING, IGNORING_DEFAULT
from scrapy_robotspec.protocol.models import DEFAULT, Rule

if TYPE_CHECKING:
    from scrapy_robotspec.evidence.access_logs import Request
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: Max crawlers with a row of their own, and max rules that are kept for all of them together.
#: Anyone can send any User-Agent: further ones are counted as one.
MAX_CRAWLERS = 10_000
_MAX_BROKEN = 100_000
#: Max length of a User-Agent that is read, of a name and of a URL that are kept (characters).
_MAX_AGENT = 1000
_MAX_NAME = 100
_MAX_URL = 2000
OTHERS = "(others)"
#: The origin of requests without a host (RFC 2606); URLs are kept without it.
ANY_SITE = "https://site.invalid"
#: Times of one clock differ by this much from what they were (seconds).
_ROUNDING = 0.001

#: RFC 9110 section 10.1.5: product = token ["/" product-version]. In comments, too.
_PRODUCT = re.compile(r"(?:^|[\s(;,])([A-Za-z_][\w.-]*)/v?\d")
#: Products of browsers, which crawlers send, too, and first words of their comments.
_IS_BROWSER = re.compile(
    "mozilla|applewebkit|chrome|chromium|headlesschrome|crios|fxios|edg|edge|edga|edgios|opr|opera"
    "|safari|mobile|version|gecko|firefox|khtml|msie|trident|ucbrowser|samsungbrowser|vivaldi"
    "|presto|ubuntu|build|windows|linux|android|iphone|macintosh",
    re.IGNORECASE,
).fullmatch
#: Signs of a crawler behind the words of a browser.
_SIGNS = re.compile(r"https?://|@|bot\b|crawl|spider", re.IGNORECASE)


@lru_cache(maxsize=4096)
def crawler_names(user_agent: str) -> Names:
    """The products of a crawler's User-Agent without those of browsers.

    Its own name is the first. Empty for a browser: a crawler that sends a browser's words has its
    name after ``compatible;``, or gives a URL, or says that it is a bot.
    """
    text = user_agent[:_MAX_AGENT].strip()
    found = [each for each in _PRODUCT.findall(text) if not _IS_BROWSER(each)]
    name = product_name(text)
    if name and not _IS_BROWSER(name.split()[0]):
        found.insert(0, name)
    elif not _SIGNS.search(text):
        return ()
    return tuple(dict.fromkeys(each[:_MAX_NAME] for each in found))


@dataclass(slots=True)
class Visitor:
    """One crawler in a log."""

    name: str
    tokens: Names
    """The product token that leads to its group; none for the default group."""
    group: Names
    """User agents of the group it follows; ``("*",)`` for the default, ``()`` for none."""
    crawl_delay: float | None
    """Seconds."""
    requests: int = 0
    robots_txt: int = 0
    """Requests for robots.txt."""
    before: int = 0
    """Requests before the first of them."""
    oldest_copy: float | None = None
    """Longest time from a request for robots.txt to the last one before the next (seconds)."""
    disallowed: int = 0
    too_early: int = 0
    """Requests that came before the crawl delay was over, whatever the log rounds."""
    shortest: float | None = None
    """Shortest time between two requests (seconds)."""
    broken: dict[Rule, tuple[int, str]] = field(default_factory=dict)
    """Requests against each rule, and the first URL."""
    _fetched: float = 0.0
    _last: float | None = None

    @property
    def note(self) -> str | None:
        """The words of its operator about robots.txt or the group ``*``."""
        name = self.name.lower()
        default = IGNORING_DEFAULT.get(name) if self.group == (DEFAULT,) else None
        return IGNORING.get(name, default)

    def add_fetch(self, request: Request) -> None:
        """Count a request for robots.txt."""
        self.robots_txt += 1
        self.oldest_copy = self.oldest_copy or 0.0
        self._fetched = request.time

    def add_page(self, request: Request) -> None:
        """Count any other request."""
        if self.oldest_copy is None:
            self.before += 1
        else:
            self.oldest_copy = max(self.oldest_copy, request.time - self._fetched)
        if self._last is not None:
            gap = abs(request.time - self._last)  # servers write a line when they have answered
            self.shortest = gap if self.shortest is None else min(gap, self.shortest)
            rounded = max(request.resolution, _ROUNDING)
            self.too_early += self.crawl_delay is not None and gap + rounded < self.crawl_delay
        self._last = request.time


class VisitorAudit:
    """Judges requests of all crawlers by one robots.txt, and counts.

    Browsers are counted and not judged: robots.txt is for crawlers.
    """

    def __init__(self, robots: RobotsTxt, only: Names = ()) -> None:
        """*only*: judge no crawler but the one with these product tokens."""
        self._robots = robots
        self._only = only
        self._wanted = {each.lower() for each in only}
        self._kept = 0
        self.requests = self.browsers = 0
        self.without_agent = 0
        """Requests without a User-Agent."""
        self.back = self._latest = 0.0
        """How far the times of requests go back at most (seconds), and the latest of them."""
        self.visitors: dict[str, Visitor] = {}

    @property
    def disallowed(self) -> int:
        """Requests that the file disallows."""
        return sum(each.disallowed for each in self.visitors.values())

    def ranked(self) -> list[Visitor]:
        """The crawlers, those with the most disallowed requests first."""
        visitors = self.visitors.values()
        return sorted(visitors, key=lambda each: (-each.disallowed, -each.requests))

    def add(self, request: Request, url: str) -> None:
        """Judge *request* for *url*, which the file governs."""
        self.requests += 1
        self.back = max(self.back, self._latest - request.time)
        self._latest = max(self._latest, request.time)
        names = self._only if request.agent is None else crawler_names(request.agent)
        if not names:
            self.browsers += bool(request.agent)
            self.without_agent += not request.agent
            return
        visitor = self._visitor(names)
        if visitor is None:
            return
        visitor.requests += 1
        if must_be_fetched(url):
            visitor.add_fetch(request)
            return
        visitor.add_page(request)
        verdict = self._robots.explain_served(url, visitor.tokens)
        rule = verdict.rule
        if verdict.allowed or rule is None:  # nothing else than a rule disallows
            return
        visitor.disallowed += 1
        number, first = visitor.broken.get(rule, (0, ""))
        if number or self._kept < _MAX_BROKEN:
            self._kept += not number
            visitor.broken[rule] = number + 1, first or url.removeprefix(ANY_SITE)[:_MAX_URL]

    def _visitor(self, names: Names) -> Visitor | None:
        """The crawler with these names; None for one that is not asked about."""
        name = names[0]
        key = name.lower()
        found = self.visitors.get(key)
        if found is not None:
            return found
        products = [tokens_from_user_agent(each, self._robots.edition) for each in names]
        tokens = max([(), *products], key=self._specificity)  # of none: the default group
        if self._wanted and self._wanted.isdisjoint(map(str.lower, (*tokens, *products[0]))):
            return None
        if len(self.visitors) >= MAX_CRAWLERS:
            name, key, tokens = OTHERS, OTHERS, ()
            if key in self.visitors:
                return self.visitors[key]
        group = self._robots.file.follow(tokens).names
        delay = self._robots.crawl_delay(tokens)
        found = self.visitors[key] = Visitor(name, tokens, group, delay)
        return found

    def _specificity(self, tokens: Names) -> int:
        """Length of the longest name of the groups that *tokens* lead to; 0 for the default."""
        keys = self._robots.file.follow(tokens).keys
        return max((len(each) for each in keys if each != DEFAULT), default=0)
