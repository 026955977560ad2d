"""The hook that selects the product token, under which groups of a robots.txt are looked for.

Which source counts for a request, and what the user is told of it, belongs here; how a text
becomes a token stands in ``product.py``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.settings.product_tokens import (
    Chooser,
    Tokens,
    product_name,
    product_tokens,
    text_of,
    tokens_from_user_agent,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.settings.settings import Settings

logger = logging.getLogger("scrapy_robotspec")

#: The key in ``request.meta`` that overrides every setting.
META_KEY = "robotspec_user_agent_token"

_HEADER = b"User-Agent"

#: Headers whose tokens are remembered, and tokens that the log tells of.
_HEADERS_REMEMBERED = 1000
_NOTICES = 20

#: Names that say nothing of who is crawling.
_CALLED_BY_TOO_MANY = ("mozilla", "scrapy")


class TokenSelector:
    """Calling it with a request gives the product tokens to look for, most specific first.

    In this order: ``request.meta["robotspec_user_agent_token"]``, the host's override,
    ``ROBOTSPEC_USER_AGENT_TOKEN``, ``ROBOTSTXT_USER_AGENT``, the User-Agent header that the request
    has or will have.

    A value from request meta or from the user's function that is no token raises
    :class:`ConfigurationError`: the request ends in its errback, it is never crawled on a guess.
    """

    def __init__(self, settings: Settings, crawler: Crawler) -> None:
        self._crawler = crawler
        self._edition = settings.edition
        self._by_host = {
            host: override.token
            for host, override in settings.overrides.items()
            if override.token is not None
        }
        self._noticed: set[Tokens] = set()
        self._by_header: dict[bytes, Tokens] = {}
        self._choose: Chooser | None = None
        self._fixed: Tokens | None = None
        self._default: Tokens = ()
        self._read_settings(settings)

    def _read_settings(self, settings: Settings) -> None:
        source = settings.user_agent_token
        crawler_settings = self._crawler.settings
        if source is None:
            name = crawler_settings["ROBOTSTXT_USER_AGENT"]
            if name:
                self._fixed = self._cut(text_of(name), "ROBOTSTXT_USER_AGENT")
            else:
                self._default = self._derive(*_default_header(self._crawler))
        elif isinstance(source, tuple):
            self._fixed = source
        else:
            self._choose = source

    def __call__(self, request: Request) -> Tokens:
        given = request.meta.get(META_KEY)
        if given is not None:
            return self._read(given, f"request.meta[{META_KEY!r}]")
        if self._by_host:
            origin = Origin.of(request.url)
            if origin is not None and origin.host in self._by_host:
                return self._by_host[origin.host]
        if self._fixed is not None:
            return self._fixed
        if self._choose is not None:
            return self._read(self._choose(request, self._crawler), self._function_name())
        headers = request.headers
        if not headers or _HEADER not in headers:  # a third of what reading it costs
            return self._default
        header = headers.get(_HEADER)
        return self._default if header is None else self._from_header(header)

    def _read(self, value: Any, source: str) -> Tokens:
        try:
            return product_tokens(value, self._edition)
        except ValueError as problem:
            raise ConfigurationError(f"{source} gave {value!r}: give {problem}") from None

    def _function_name(self) -> str:
        try:
            name = global_object_name(self._choose)
        except AttributeError:  # a callable object
            name = repr(self._choose)
        return f"The function {name} (ROBOTSPEC_USER_AGENT_TOKEN)"

    def _from_header(self, header: bytes) -> Tokens:
        tokens = self._by_header.get(header)
        if tokens is None:
            if len(self._by_header) >= _HEADERS_REMEMBERED:
                self._by_header.clear()
            tokens = self._derive(text_of(header), "the request's User-Agent")
            self._by_header[header] = tokens
        return tokens

    # --- what the user did not name, and is told of

    def _derive(self, user_agent: str, source: str) -> Tokens:
        tokens = tokens_from_user_agent(user_agent, self._edition)
        if self._is_news(tokens):
            if tokens:
                logger.info(
                    "The product token for robots.txt is %s, derived from %s. "
                    "ROBOTSPEC_USER_AGENT_TOKEN sets another.",
                    ascii(tokens[0]),
                    source,
                )
            self._doubt(user_agent, tokens, source)
        return tokens

    def _cut(self, user_agent: str, source: str) -> Tokens:
        tokens = tokens_from_user_agent(user_agent, self._edition)
        if user_agent.strip() != "*":
            self._doubt(user_agent, tokens, source)
        return tokens

    def _is_news(self, tokens: Tokens) -> bool:
        """Once for each token, and not without end where headers change all the time."""
        if tokens in self._noticed or len(self._noticed) >= _NOTICES:
            return False
        self._noticed.add(tokens)
        return True

    def _doubt(self, user_agent: str, tokens: Tokens, source: str) -> None:
        """Warn where groups that are meant for this crawler would hardly be found."""
        name = product_name(user_agent)
        if not tokens:
            problem = "holds no product token, so only groups for '*' are followed"
        elif tokens[0].lower() in _CALLED_BY_TOO_MANY:
            problem = f"names {tokens[0]!r}, as it does for countless others"
        elif tokens[0] != name:
            problem = f"names {name!a}, no legal product token: {tokens[0]!r} is looked for"
        else:
            return
        logger.warning(
            "%s %s. Set ROBOTSPEC_USER_AGENT_TOKEN to the name by which sites know your crawler.",
            source[0].upper() + source[1:],
            problem,
        )


def _default_header(crawler: Crawler) -> tuple[str, str]:
    """The User-Agent that Scrapy gives a request without one, and where it stands."""
    settings = crawler.settings
    for name, value in settings.getdict("DEFAULT_REQUEST_HEADERS").items():
        if text_of(name).lower() == "user-agent" and value:
            return text_of(value), "DEFAULT_REQUEST_HEADERS"
    of_spider = getattr(crawler.spider, "user_agent", None)
    if of_spider:
        return text_of(of_spider), "the spider's user_agent"
    return text_of(settings["USER_AGENT"] or ""), "USER_AGENT"
