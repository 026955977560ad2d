"""TokenSelector: the product tokens that a request's rules are looked up under.

The log lines about them are in ``token_notices.py``, the reading of tokens in
``protocol/agents.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.deciding.token_notices import TokenNotices
from scrapy_robotspec.plugin.settings.product_tokens import Chooser, Tokens, text_of
from scrapy_robotspec.plugin.settings.wiring import sets_user_agent
from scrapy_robotspec.protocol.agents import product_tokens, tokens_from_user_agent

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.settings.settings import Settings

#: The key in ``request.meta`` that overrides every setting.
META_KEY = "robotspec_user_agent_token"
#: Internal meta key: the tokens of a request's decision, and the repetitions it was made after.
KEPT_KEY = "_robotspec_tokens"
#: Meta keys with which Scrapy and scrapy-rotating-proxies count repetitions of a request.
_REPETITIONS = ("redirect_times", "retry_times", "proxy_retry_times")

_HEADER = b"User-Agent"

#: Max headers whose tokens are cached.
_MAX_HEADERS = 1000


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

    def __init__(self, settings: Settings, crawler: Crawler) -> None:
        self._crawler = crawler
        self._edition = settings.edition
        self._by_host = settings.overrides.map(lambda override: override.token)
        self._has_host_tokens = any(self._by_host.values())
        self._notices = TokenNotices()
        self._by_header: dict[bytes, Tokens] = {}
        self._choose: Chooser | None = None
        self._fixed: Tokens | None = None
        self._default: Tokens = ()
        self._read_settings(settings)

    def _read_settings(self, settings: Settings) -> None:
        setting = settings.user_agent_token
        name = self._crawler.settings["ROBOTSTXT_USER_AGENT"]
        sent = default_user_agent(self._crawler)
        stock = sets_user_agent(self._crawler.settings)
        if callable(setting):
            self._choose = setting
        elif setting is not None:
            self._fixed = setting
            if stock:
                self._notices.compare("ROBOTSPEC_USER_AGENT_TOKEN", setting, *sent)
        elif name:
            self._fixed = tokens_from_user_agent(text_of(name), self._edition)
            self._notices.doubt(text_of(name), self._fixed, "ROBOTSTXT_USER_AGENT")
            if stock:
                self._notices.compare("ROBOTSTXT_USER_AGENT", self._fixed, *sent)
        else:
            self._default = self._derive(*sent)
            self._by_header[sent[0].encode("utf-8", "replace")] = self._default
            if not stock:
                self._notices.unknown_header(self._default, sent[1])

    @property
    def fixed(self) -> Tokens | None:
        """The tokens that hold for every request without its own, or None."""
        return self._fixed

    def __call__(self, request: Request) -> Tokens:
        """The tokens for a decision about *request*."""
        # hot path
        meta = request.meta
        if self._fixed is not None or self._has_host_tokens or META_KEY in meta:
            explicit = self._explicit(request)
            if explicit is not None:
                return explicit
        repetitions = 0
        tokens: Tokens | None = None
        if "redirect_times" in meta or "retry_times" in meta or "proxy_retry_times" in meta:
            repetitions = _repetitions(request)
            kept = meta.get(KEPT_KEY)
            if kept is not None and kept[1] < repetitions:
                tokens = tuple(kept[0])
        if tokens is None:
            tokens = self._select(request)
        meta[KEPT_KEY] = (tokens, repetitions)
        return tokens

    def decided(self, request: Request) -> Tokens:
        """The tokens *request* was last judged by."""
        kept = request.meta.get(KEPT_KEY)
        if kept is None or self._explicit(request) is not None:
            return self(request)
        return tuple(kept[0])

    def responded(self, request: Request) -> None:
        """*request* has its response, whose meta a spider may give to other requests.

        Kept tokens are dropped where the header gives the same. Others stay for a retry by the
        spider.
        """
        kept = request.meta.get(KEPT_KEY)
        if kept is None:
            return
        header = request.headers.get(_HEADER)
        told = header is None or self._by_header.get(header) == tuple(kept[0])
        if self._choose is None and told:
            del request.meta[KEPT_KEY]
        else:  # the last redirect may have needed no tokens
            request.meta[KEPT_KEY] = (kept[0], _repetitions(request))

    def _explicit(self, request: Request) -> Tokens | None:
        """Tokens that do not depend on headers or on the user's function."""
        given = request.meta.get(META_KEY)
        if given is not None:
            return self._read(given, f"request.meta[{META_KEY!r}]")
        if self._has_host_tokens:
            origin = Origin.of(request.url)
            of_host = self._by_host.find(origin) if origin is not None else None
            if of_host is not None:
                return of_host
        return self._fixed

    def _select(self, request: Request) -> Tokens:
        if self._choose is not None:
            return self._read(self._call(self._choose, request), self._function_name())
        headers = request.headers
        if not headers or _HEADER not in headers:  # a third of the cost of headers.get()
            return self._default
        header = headers.get(_HEADER)
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
            if len(self._by_header) >= _MAX_HEADERS:
                self._by_header.clear()
            tokens = self._derive(text_of(header), "the request's User-Agent")
            self._by_header[header] = tokens
        return tokens

    def _derive(self, user_agent: str, source: str) -> Tokens:
        tokens = tokens_from_user_agent(user_agent, self._edition)
        self._notices.derived(user_agent, tokens, source)
        return tokens


def _repetitions(request: Request) -> int:
    """How often *request* has been redirected or retried."""
    return sum(request.meta.get(key) or 0 for key in _REPETITIONS)


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
