"""RobotSpecParser: this package's parser where Scrapy expects one (``ROBOTSTXT_PARSER``).

Translates only: from Scrapy's arguments to ours. It works under Scrapy's own middleware, and
the ``robots_parsed`` signal, which is sent here, carries one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.robotstxt import RobotParser

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin._compat import robots_parsed
from scrapy_robotspec.plugin._compat_rare import send_signal
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector, text_of
from scrapy_robotspec.plugin.exceptions import in_one_line
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.agents import tokens_from_user_agent
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.signals import robots_changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_robotspec.lookup import Resolved


#: The settings of each crawler, which Scrapy passes again for every robots.txt.
_converted: WeakKeyDictionary[Crawler, Settings] = WeakKeyDictionary()


def _settings_of(crawler: Crawler) -> Settings:
    """The settings of *crawler*; converted once, as a running crawl's do not change."""
    if crawler not in _converted:
        _converted[crawler] = Settings.from_scrapy(crawler.settings)
    return _converted[crawler]


class RobotSpecParser(RobotParser):
    """A parsed robots.txt behind Scrapy's parser interface.

    ``tokens`` are the product tokens to look for, whatever user agent a question names; None: the
    token is found in the user agent given.
    """

    def __init__(self, robots: RobotsTxt, tokens: Sequence[str] | None = None) -> None:
        self.robots = robots
        self._fixed = None if tokens is None else tuple(tokens)

    @classmethod
    @in_one_line
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes) -> Self:
        """Parse *robotstxt_body* as the crawler's settings say (None: as the defaults do).

        Raises :class:`ConfigurationError` for a wrong setting, and for a function as
        ``ROBOTSPEC_USER_AGENT_TOKEN``: a parser does not see the request.
        """
        settings = Settings() if crawler is None else _settings_of(crawler)
        tokens = settings.user_agent_token
        if callable(tokens):
            raise ConfigurationError(
                f"ROBOTSPEC_USER_AGENT_TOKEN = {tokens!r} is wrong with ROBOTSTXT_PARSER: give a "
                "token or a list of them, or use the add-on, which calls functions"
            )
        return cls(
            RobotsTxt.parse(robotstxt_body, settings.edition, limit=settings.max_size), tokens
        )

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether *url* may be crawled."""
        return self.robots.allowed(url, self._tokens(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """The crawl delay in seconds (EXT-01), or None."""
        return self.robots.crawl_delay(self._tokens(user_agent))

    def _tokens(self, user_agent: str | bytes) -> tuple[str, ...]:
        if self._fixed is not None:
            return self._fixed
        return tokens_from_user_agent(text_of(user_agent), self.robots.edition)


async def send_rules(
    crawler: Crawler,
    tokens: TokenSelector,
    found: Resolved,
    request: Request,
    replaced: RobotsTxt | None,
) -> None:
    """Send ``robots_parsed``, and ``robots_changed`` where other rules held before."""
    assert found.robots is not None
    own = None  # where the user's function fails, which ends the request later
    with suppress(Exception):
        own = tokens.select(request)
    parser = RobotSpecParser(found.robots, own)
    sent: dict[str, Any] = {"robotparser": parser, "request": request}
    await send_signal(crawler, robots_parsed, **sent)
    if replaced is not None:
        sent = {"origin": found.origin, "old": replaced, "new": found.robots}
        await send_signal(crawler, robots_changed, **sent)
