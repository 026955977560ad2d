"""Product tokens of requests, and warnings about them.

The reading of tokens is in ``protocol/agents.py``, that of the setting in ``composite.py``.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin._compat import enabled_middlewares
from scrapy_robotspec.plugin.meta_keys import KEPT_TOKENS, OWN_TOKENS
from scrapy_robotspec.protocol.agents import product_name, product_tokens, tokens_from_user_agent
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.settings.composite import Chooser, Tokens
    from scrapy_robotspec.plugin.settings.settings import Settings

logger = logging.getLogger("scrapy_robotspec")

_SETTING = "ROBOTSPEC_USER_AGENT_TOKEN"

#: Headers whose tokens are kept; most crawls send few.
_MAX_HEADERS = 1000

#: Product names that many crawlers share, those of libraries among them.
_SHARED_NAMES = re.compile(
    "mozilla|scrapy|aiohttp|axios|curl|go-http-client|guzzlehttp|java|libwww-perl|node-fetch|okhttp|"
    "python|python-httpx|python-requests|python-urllib|ruby|wget",
    re.IGNORECASE,
)
#: Max length of a User-Agent in a warning (characters).
_MAX_QUOTED = 40


class TokenSelector:
    """Selects the product tokens of requests.

    In this order: ``request.meta["robotspec_user_agent_token"]``, the host's override,
    ``ROBOTSPEC_USER_AGENT_TOKEN``, ``ROBOTSTXT_USER_AGENT``, the User-Agent header that the request
    has or will have. Tokens of a function or a header are kept in the request's meta until its
    response arrives: redirects and retries have the same, whatever User-Agent other middlewares
    have given them meanwhile.

    Invalid tokens from request meta or from the user's function raise :class:`ConfigurationError`:
    the request ends in its errback, it is never crawled on a guess.
    """

    def __init__(self, crawler: Crawler, settings: Settings) -> None:
        self._crawler = crawler
        self._edition = settings.edition
        self._overrides = settings.overrides
        setting = settings.user_agent_token
        self._has_doubt = False
        self._of_header = lru_cache(_MAX_HEADERS)(self._read_header)
        self._choose: Chooser | None = None
        self.usual: Tokens = ()
        """The tokens of most requests; none where a function chooses them."""
        self.is_fixed = not callable(setting)
        """Whether they hold for every request without its own."""
        self._source = _SETTING
        name = crawler.settings["ROBOTSTXT_USER_AGENT"]
        if callable(setting):
            self._choose = setting
            self._source = f"function {_name_of(setting)} ({_SETTING})"
        elif setting is not None:
            self.usual = setting
        elif name:
            self._source = "ROBOTSTXT_USER_AGENT"
            self.usual = self._derive(text_of(name), self._source)
        else:
            self.is_fixed = False
            user_agent, self._source = default_user_agent(crawler)
            is_sent = UserAgentMiddleware in enabled_middlewares(crawler.settings)
            self.usual = self._derive(user_agent, self._source, is_sent=is_sent)
        self.is_compared = not self.usual
        """Whether a User-Agent that was sent has been compared with the usual tokens (UAG-12)."""

    def __str__(self) -> str:
        """The tokens of most requests and where they come from, for a log line."""
        if self._choose is not None:
            return f"from {self._source}"
        return f"{', '.join(map(safe, self.usual)) or '*'} ({self._source})"

    def select(self, request: Request) -> Tokens:
        """The tokens for decisions about *request*, which has no response yet.

        Most specific first.
        """
        # hot path
        meta = request.meta
        given = meta.get(OWN_TOKENS)
        if given is not None:
            return self._checked(given, f"request.meta[{OWN_TOKENS!r}]")
        if self._overrides is not None:
            origin = Origin.of(request.url)
            override = None if origin is None else self._overrides.find(origin)
            if override is not None and override.token is not None:
                return override.token
        if self.is_fixed:
            return self.usual
        kept = meta.get(KEPT_TOKENS)
        if kept is None:
            if self._choose is not None:
                kept = self._chosen(self._choose, request)
            else:
                # Headers are stored in this spelling: it needs none of Scrapy's calls.
                headers = dict.get(request.headers, b"User-Agent")
                kept = self._of_header(headers[-1]) if headers else self.usual
            meta[KEPT_TOKENS] = kept
        return tuple(kept)  # a queue may have stored it as JSON, which has no tuples

    def compare(self, request: Request) -> None:
        """Warn once if the User-Agent that was sent lacks the token (UAG-12)."""
        sent = text_of(request.headers.get("User-Agent") or "")
        if self.is_compared or not sent or self.select(request) != self.usual:
            return
        self.is_compared = True
        if any(token.lower() in sent.lower() for token in self.usual):
            return
        default, source = default_user_agent(self._crawler)
        handlers = self._crawler.settings.getwithbase("DOWNLOAD_HANDLERS")
        handler = _name_of(handlers.get(request.url.partition(":")[0]))
        is_scrapys = handler.startswith("scrapy.core.")
        logger.warning(
            "%s is %s, which is not part of the User-Agent %s, which begins with %s (%s): sites "
            "cannot recognise your crawler. Send one that contains the token%s.",
            self._source,
            ", ".join(map(ascii, self.usual)),
            "sent" if is_scrapys else "of requests",
            ascii(sent[:_MAX_QUOTED]),
            source if sent == default else "set by a spider or middleware",
            "" if is_scrapys else f"; {handler} may change it",
        )

    def _chosen(self, choose: Chooser, request: Request) -> Tokens:
        try:
            chosen = choose(request, self._crawler)
        except IgnoreRequest:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"{self._source} raised {type(error).__name__}: {error}"
            ) from error
        return self._checked(chosen, self._source)

    def _read_header(self, header: bytes) -> Tokens:
        return self._derive(text_of(header), "the request's User-Agent")

    def _checked(self, value: Any, source: str) -> Tokens:
        try:
            return product_tokens(value, self._edition)
        except ValueError as problem:
            raise ConfigurationError(f"{source} gave {value!r}: give {problem}") from None

    def _derive(self, user_agent: str, source: str, *, is_sent: bool = True) -> Tokens:
        tokens = tokens_from_user_agent(user_agent, self._edition)
        if not self._has_doubt:  # the remedy is the same for all
            self._has_doubt = _warn_of_doubt(user_agent, tokens, source, is_sent)
        return tokens


def _name_of(component: Any) -> str:
    """The import path of *component*, which a setting may name by it."""
    try:
        return component if isinstance(component, str) else global_object_name(component)
    except AttributeError:  # a callable object
        return repr(component)


def default_user_agent(crawler: Crawler) -> tuple[str, str]:
    """The default User-Agent and the setting it comes from."""
    settings = crawler.settings
    for name, value in settings.getdict("DEFAULT_REQUEST_HEADERS").items():
        if text_of(name).lower() == "user-agent" and value:
            return text_of(value), "DEFAULT_REQUEST_HEADERS"
    of_spider = getattr(crawler.spider, "user_agent", None)
    if of_spider:
        return text_of(of_spider), "the spider's user_agent"
    return text_of(settings["USER_AGENT"] or ""), "USER_AGENT"


def text_of(value: Any) -> str:
    """*value* as text, which settings and headers may have as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# --- log lines


def _warn_of_doubt(user_agent: str, tokens: Tokens, source: str, is_sent: bool) -> bool:
    """Warn if a site's group is unlikely to match *tokens*; whether it is."""
    name = product_name(user_agent)
    if name == "*":
        return False
    if not tokens:
        problem = "has no product token, so only groups for '*' are followed"
    elif _SHARED_NAMES.fullmatch(tokens[0]):
        problem = f"names {tokens[0]!r}, which many crawlers share"
    elif tokens[0] != name:
        problem = f"names {name!a}, no legal product token: {tokens[0]!r} is looked for"
    elif not is_sent:
        problem = f"names {name!a}, and may not be sent: Scrapy's UserAgentMiddleware is off"
    else:
        return False
    logger.warning(
        "%s %s. Set ROBOTSPEC_USER_AGENT_TOKEN to the name by which sites know your crawler.",
        source[0].upper() + source[1:],
        problem,
    )
    return True
