"""RequestPolicy: rules and overrides applied to a request.

Finds the origin of a request, and decides by what is known of it. The middleware passes requests
on, refuses or requeues them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.plugin.deciding.extensions import (
    NO_EXTENSIONS,
    Extensions,
    extensions_of,
    read_extensions,
)

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.policy import Override
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import Tokens, TokenSelector


class RequestPolicy:
    """``ftp``: whether this crawl asks FTP servers for a robots.txt (LOC-12)."""

    def __init__(self, settings: Settings, tokens: TokenSelector, *, ftp: bool) -> None:
        self._overrides = settings.overrides
        self._obeys_crawl_delay = settings.crawl_delay
        self._crawl_delay_max = settings.crawl_delay_max
        self._default_crawl_delay = settings.default_crawl_delay
        self.spaces = bool(
            settings.crawl_delay
            or settings.default_crawl_delay
            or any(override.crawl_delay for override in settings.overrides.values())
        )
        """Whether :meth:`delay` may have an answer at all."""
        self.usage = UsagePolicy(settings.usage, settings.usage_policy)
        self._tokens = tokens
        self._ftp = ftp

    def origin(self, request: Request) -> Origin | None:
        """The origin whose robots.txt governs *request*; None where none does."""
        if request.meta.get("dont_obey_robotstxt"):  # APP-01
            return None
        origin = Origin.of(request.url)  # LOC-11
        if origin is not None and not self._ftp and origin.startswith("ftp:"):
            return None
        return origin

    def origin_asked(self, request: Request) -> Origin | None:
        """The origin whose robots.txt has to be known before *request* may go."""
        origin = self.origin(request)
        if origin is not None and self._overrides:
            override = self.override(origin)
            if override is not None and override.replacement is not None:
                return None
        return origin

    def override(self, origin: Origin) -> Override | None:
        """The user's override for the host of *origin*."""
        return self._overrides.find(origin) if self._overrides else None

    def by_override(self, origin: Origin, request: Request) -> Decision | None:
        """The decision of an override, if there is one."""
        if not self._overrides:
            return None
        override = self.override(origin)
        answer = override.replacement if override is not None else None
        if answer is None:
            return None
        if isinstance(answer, str):
            return Decision(allowed=answer == "ignore", reason="override", origin=origin)
        tokens = self._tokens(request)
        verdict = answer.explain_served(request.url, tokens)
        decision = Decision(
            allowed=verdict.allowed, reason="override", verdict=verdict, origin=origin
        )
        if decision.allowed and self.usage.refuses:
            return self._by_usage(decision, read_extensions(answer, tokens), request.url)
        return decision

    def decide(self, found: Resolved, url: str, tokens: Tokens, now: float) -> Decision:
        """Decide about *url* by rules, then by usage preferences (USE-05)."""
        decision = found.decide(url, tokens, now)
        if decision.allowed and found.extensions is not None and self.usage.refuses:
            return self._by_usage(decision, extensions_of(found, tokens), url)
        return decision

    def _by_usage(self, decision: Decision, extensions: Extensions, url: str) -> Decision:
        refusal = self.usage.refusal(extensions.usage_of(url), final=False)
        return decision if refusal is None else decision.refused_for(refusal)

    def delay(self, found: Resolved, request: Request) -> float | None:
        """Seconds between two pages (EXT-01); None or 0: no delay.

        An override is preferred to the file, and the file to the default.
        """
        if self._overrides:
            override = self.override(found.origin)
            if override is not None and override.crawl_delay is not None:
                return override.crawl_delay
        if self._obeys_crawl_delay and found.extensions is not None:
            delay = extensions_of(found, self._tokens.decided(request)).crawl_delay
            if delay is not None:
                return min(delay, self._crawl_delay_max)
        return self._default_crawl_delay

    def extensions(self, found: Resolved, request: Request) -> Extensions:
        """The extensions for *request* in the file of *found*."""
        return extensions_of(found, self._tokens.decided(request))

    def ignores(self, origin: Origin) -> bool:
        """Whether the user has overridden the host of *origin* with ``"ignore"``."""
        override = self.override(origin)
        return override is not None and override.replacement == "ignore"

    def override_extensions(self, origin: Origin, request: Request) -> Extensions:
        """The extensions for *request* in the user's own robots.txt text for *origin*."""
        override = self.override(origin)
        answer = override.replacement if override is not None else None
        if answer is None or isinstance(answer, str):
            return NO_EXTENSIONS
        return read_extensions(answer, self._tokens.decided(request))
