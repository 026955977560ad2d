"""Sent URLs: download handlers that change the URL of a request (PAT-13).

Scrapy's handlers for Twisted send a URL unchanged. Others remove ``.`` and ``..`` from its path,
and yarl, which aiohttp uses, also decodes characters: ``/a%40b`` is sent as ``/a@b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.final_url import redirected
from scrapy_robotspec.protocol.paths import resolve_dots

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.deciding.request_policy import RequestPolicy
    from scrapy_robotspec.plugin.deciding.token_selector import TokenSelector
    from scrapy_robotspec.plugin.settings.product_tokens import Tokens

    #: Returns the URL that is sent for a request.
    Rewriter = Callable[[Request], str]

_AIOHTTP = "AiohttpDownloadHandler"


class SentUrls:
    """Decides about URLs as download handlers send them.

    Refuses nothing before :meth:`open`, which needs the engine.
    """

    def __init__(self, policy: RequestPolicy, tokens: TokenSelector) -> None:
        self._policy = policy
        self._tokens = tokens
        self._rewrite: Rewriter | None = None
        self.differ = False
        """Whether a URL may be sent as another one."""

    def open(self, crawler: Crawler) -> None:
        """Learn how this crawl's download handlers change URLs."""
        self._rewrite = find_rewriter(crawler)
        self.differ = self._rewrite is not None

    def refused(
        self,
        request: Request,
        decision: Decision,
        found: Resolved | None,
        tokens: Tokens | None = None,
    ) -> tuple[Request, Decision] | None:
        """The request as sent and its decision, if that refuses it.

        *decision* is the one about *request*, which *found* was used for; *tokens* its tokens if
        *request* does not keep them any more.
        """
        if self._rewrite is None or not decision.allowed or decision.origin is None:
            return None
        url = self._rewrite(request)
        if url == request.url:
            return None
        sent = redirected(request, url)
        as_sent: Decision | None
        if found is None:
            as_sent = self._policy.by_override(decision.origin, sent)
        else:
            now = decision.time or 0.0
            as_sent = self._policy.decide(found, url, tokens or self._tokens(sent), now)
        return None if as_sent is None or as_sent.allowed else (sent, as_sent)


def find_rewriter(crawler: Crawler) -> Rewriter | None:
    """How this crawl's HTTP handlers change URLs; None: not at all."""
    handlers = _compat.http_handlers(crawler)
    if any(_AIOHTTP in names for names in handlers):
        return rewrite_as_yarl
    return None if all(map(_compat.is_twisteds, handlers)) else remove_dot_segments


def rewrite_as_yarl(request: Request) -> str:
    """The URL of *request* as aiohttp sends it."""
    if request.meta.get("verbatim_url"):
        return request.url
    from yarl import URL  # comes with aiohttp

    try:
        return str(URL(request.url))
    except ValueError:  # then nothing is sent
        return request.url


def remove_dot_segments(request: Request) -> str:
    """The URL of *request* without dot segments."""
    return resolve_dots(request.url)
