"""Product tokens of requests, and warnings about them.

The reading of tokens is in ``protocol/agents.py``, that of the setting in ``composite.py``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin._compat import is_enabled
from scrapy_robotspec.protocol.agents import product_name, product_tokens, tokens_from_user_agent
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.overrides import HostTable, Override
    from scrapy_robotspec.editions import Edition

logger = logging.getLogger("scrapy_robotspec")

Tokens = tuple[str, ...]
Chooser = Callable[["Request", "Crawler"], Any]

#: The key in ``request.meta`` that overrides every setting.
META_KEY = "robotspec_user_agent_token"
#: Internal meta key: the tokens of a request's decision, and the repetitions it was made after.
KEPT_KEY = "_robotspec_tokens"
#: Meta keys with which Scrapy and scrapy-rotating-proxies count repetitions of a request.
_REPETITIONS = frozenset({"redirect_times", "retry_times", "proxy_retry_times"})

_HEADER = b"User-Agent"

#: Max headers whose tokens are cached.
_MAX_HEADERS = 1000
#: Product names that many crawlers share.
_SHARED_NAMES = ("mozilla", "scrapy")


class TokenSelector:
    """Calling it with a request returns its product tokens, most specific first.

    In this order: ``request.meta["robotspec_user_agent_token"]``, the host's override,
    ``ROBOTSPEC_USER_AGENT_TOKEN``, ``ROBOTSTXT_USER_AGENT``, the User-Agent header that the request
    has or will have. Redirects and retries of a request keep its first tokens, whatever User-Agent
    other middlewares have given it meanwhile. A new request has its own, also one with the meta of
    a response.

    Invalid tokens from request meta or from the user's function raise :class:`ConfigurationError`:
    the request ends in its errback, it is never crawled on a guess.
    """

    def __init__(
        self,
        crawler: Crawler,
        edition: Edition,
        setting: Tokens | Chooser | None = None,
        overrides: HostTable[Override] | None = None,
    ) -> None:
        self._crawler = crawler
        self._edition = edition
        has_tokens = overrides and any(override.token for override in overrides.values())
        self._by_host = overrides if has_tokens else None
        self._has_doubt = False
        self._by_header: dict[bytes, Tokens] = {}
        self._choose: Chooser | None = None
        self._fixed: Tokens | None = None
        self._default: Tokens = ()
        self._source = "ROBOTSPEC_USER_AGENT_TOKEN"
        self._read(setting)

    def _read(self, setting: Tokens | Chooser | None) -> None:
        name = self._crawler.settings["ROBOTSTXT_USER_AGENT"]
        sent = default_user_agent(self._crawler)
        stock = is_enabled(UserAgentMiddleware, self._crawler.settings)
        if callable(setting):
            self._choose = setting
        elif setting is not None:
            self._fixed = setting
        elif name:
            self._source = "ROBOTSTXT_USER_AGENT"
            self._fixed = tokens_from_user_agent(text_of(name), self._edition)
            _warn_of_doubt(text_of(name), self._fixed, self._source)
        else:
            self._source = sent[1]
            self._default = self._derive(*sent)
            self._by_header[sent[0].encode("utf-8", "replace")] = self._default
            if not stock:
                _warn_of_header(self._default, sent[1])
        if stock and self._fixed is not None:
            _warn_of_other_name(self._source, self._fixed, *sent)

    def __str__(self) -> str:
        """The tokens of most requests and where they come from, for a log line."""
        if self._choose is not None:
            return f"from {self._function_name()}"
        tokens = self._default if self._fixed is None else self._fixed
        return f"{', '.join(map(safe, tokens)) or '*'} ({self._source})"

    @property
    def fixed(self) -> Tokens | None:
        """The tokens that hold for every request without its own, or None."""
        return self._fixed

    def __call__(self, request: Request) -> Tokens:
        """The tokens for a decision about *request*."""
        # hot path
        meta = request.meta
        if self._by_host is not None or META_KEY in meta:
            explicit = self._explicit(request)
            if explicit is not None:
                return explicit
        elif self._fixed is not None:
            return self._fixed
        repetitions = 0 if _REPETITIONS.isdisjoint(meta) else _repetitions(meta)
        kept = meta.get(KEPT_KEY)
        if kept is not None and kept[1] < repetitions:
            tokens = tuple(kept[0])
        elif self._choose is None and not dict.get(request.headers, _HEADER):
            tokens = self._default
        else:
            tokens = self._select(request)
        meta[KEPT_KEY] = (tokens, repetitions)
        return tokens

    def decided(self, request: Request) -> Tokens:
        """The tokens *request* was last judged by."""
        kept = request.meta.get(KEPT_KEY)
        if kept is None or self._explicit(request) is not None:
            return self(request)
        return tuple(kept[0])

    def repeats(self, request: Request) -> None:
        """*request* is decided again; other middlewares may have changed its header."""
        kept = request.meta.get(KEPT_KEY)
        if kept is not None:
            request.meta[KEPT_KEY] = (kept[0], kept[1] - 1)

    def responded(self, request: Request) -> None:
        """*request* has its response.

        A spider may give its meta to other requests. Kept tokens are dropped where the header gives
        the same. Others stay for a retry by the spider.
        """
        kept = request.meta.get(KEPT_KEY)
        if kept is None:
            return
        header = _header_of(request)
        is_same = header is None or self._by_header.get(header) == tuple(kept[0])
        if self._choose is None and is_same:
            del request.meta[KEPT_KEY]
        else:  # the last redirect may have needed no tokens
            request.meta[KEPT_KEY] = (kept[0], _repetitions(request.meta))

    def _explicit(self, request: Request) -> Tokens | None:
        """Tokens that do not depend on headers or on the user's function."""
        given = request.meta.get(META_KEY)
        if given is not None:
            return self._checked(given, f"request.meta[{META_KEY!r}]")
        if self._by_host is not None:
            origin = Origin.of(request.url)
            of_host = self._by_host.find(origin) if origin is not None else None
            if of_host is not None and of_host.token is not None:
                return of_host.token
        return self._fixed

    def _select(self, request: Request) -> Tokens:
        if self._choose is not None:
            return self._checked(self._call(self._choose, request), self._function_name())
        header = _header_of(request)
        return self._default if header is None else self._from_header(header)

    def _call(self, choose: Chooser, request: Request) -> Any:
        try:
            return choose(request, self._crawler)
        except IgnoreRequest:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"{self._function_name()} raised {type(error).__name__}: {error}"
            ) from error

    def _checked(self, value: Any, source: str) -> Tokens:
        try:
            return product_tokens(value, self._edition)
        except ValueError as problem:
            raise ConfigurationError(f"{source} gave {value!r}: give {problem}") from None

    def _function_name(self) -> str:
        try:
            name = global_object_name(self._choose)
        except AttributeError:  # a callable object
            name = repr(self._choose)
        return f"function {name} (ROBOTSPEC_USER_AGENT_TOKEN)"

    def _from_header(self, header: bytes) -> Tokens:
        tokens = self._by_header.get(header)
        if tokens is None:
            if len(self._by_header) >= _MAX_HEADERS:
                self._by_header.clear()
            tokens = self._derive(text_of(header), "the request's User-Agent")
            self._by_header[header] = tokens
        return tokens

    def _derive(self, user_agent: str, source: str) -> Tokens:
        tokens = tokens_from_user_agent(user_agent, self._edition)
        if not self._has_doubt:  # the remedy is the same for all
            self._has_doubt = _warn_of_doubt(user_agent, tokens, source)
        return tokens


def _header_of(request: Request) -> bytes | None:
    """The User-Agent header of *request*."""
    # hot path: headers are stored in this spelling, so it needs none of Scrapy's calls
    values = dict.get(request.headers, _HEADER)
    return values[-1] if values else None


def _repetitions(meta: Mapping[str, Any]) -> int:
    """How often the request with *meta* has been redirected or retried."""
    return sum(meta.get(key) or 0 for key in _REPETITIONS)


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


def _warn_of_doubt(user_agent: str, tokens: Tokens, source: str) -> bool:
    """Warn if a site's group is unlikely to match *tokens*; whether it is."""
    name = product_name(user_agent)
    if name == "*":
        return False
    if not tokens:
        problem = "has no product token, so only groups for '*' are followed"
    elif tokens[0].lower() in _SHARED_NAMES:
        problem = f"names {tokens[0]!r}, which many crawlers share"
    elif tokens[0] != name:
        problem = f"names {name!a}, no legal product token: {tokens[0]!r} is looked for"
    else:
        return False
    logger.warning(
        "%s %s. Set ROBOTSPEC_USER_AGENT_TOKEN to the name by which sites know your crawler.",
        source[0].upper() + source[1:],
        problem,
    )
    return True


def _warn_of_other_name(name: str, tokens: Tokens, user_agent: str, source: str) -> None:
    """Warn if the User-Agent contains no token of *name* (UAG-12)."""
    sent = user_agent.lower()
    if tokens and sent and not any(token.lower() in sent for token in tokens):
        logger.warning(
            "%s is %s, which is not part of the User-Agent sent, %s (%s): sites cannot "
            "recognise your crawler. Set %s to a value that contains the token.",
            name,
            ", ".join(map(ascii, tokens)),
            ascii(user_agent),
            source,
            source,
        )


def _warn_of_header(tokens: Tokens, source: str) -> None:
    """Warn that *tokens* may not be those of the User-Agent sent."""
    logger.warning(
        "ROBOTSPEC_USER_AGENT_TOKEN is not set and Scrapy's UserAgentMiddleware is off: rules "
        "are looked up for %s, derived from %s, whatever User-Agent is sent. Set "
        "ROBOTSPEC_USER_AGENT_TOKEN.",
        ascii(tokens[0]) if tokens else "'*'",
        source,
    )
