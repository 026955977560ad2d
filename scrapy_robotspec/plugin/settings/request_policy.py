"""RequestPolicy: the origin of a request, overrides, extensions and usage preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.overrides import Override
    from scrapy_robotspec.access.usage_policy import UsagePolicy, UsageRefusal
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.settings.composite import Tokens
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import TokenSelector
    from scrapy_robotspec.protocol.usage import Usage
    from scrapy_robotspec.protocol.usage_rules import UsageRules

#: Max number of other lines kept for a request; only hostile files have more.
MOST_LINES = 100


@dataclass(frozen=True, slots=True)
class Extensions:
    """Other lines of a group: values by field, in file order.

    Crawl delay (EXT-01), other lines (EXT-03), usage statements (USE-01, USE-07), licenses
    (USE-06).
    """

    fields: dict[str, tuple[str, ...]]
    crawl_delay: float | None
    """Seconds; None: none is asked for."""
    usage: UsageRules | None = None
    """The usage statements; None if there are none."""
    licenses: tuple[str, ...] = ()

    def usage_of(self, url: str) -> Usage:
        """The usage preferences of a URL that may be crawled."""
        if self.usage is not None:
            return self.usage.find(url)
        from scrapy_robotspec.protocol.usage import Usage  # few files state any

        return Usage()


NO_EXTENSIONS = Extensions({}, None)


def extensions_of(
    robots: RobotsTxt | None, kept: dict[Tokens, Extensions] | None, tokens: Tokens
) -> Extensions:
    """The extensions in *robots* for *tokens*.

    *kept* caches them; None: the file has none.
    """
    if robots is None or kept is None:
        return NO_EXTENSIONS
    if tokens not in kept:
        if len(kept) >= _KEPT:
            kept.clear()
        kept[tokens] = read_extensions(robots, tokens)
    return kept[tokens]


#: Answers kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8


def read_extensions(robots: RobotsTxt, tokens: Tokens) -> Extensions:
    """The extensions in *robots* for *tokens*."""
    fields: dict[str, tuple[str, ...]] = {}
    for line in robots.other(tokens)[:MOST_LINES]:
        fields[line.field] = (*fields.get(line.field, ()), line.value)
    usage = robots.usage_rules(tokens) or None
    return Extensions(fields, robots.crawl_delay(tokens), usage, robots.licenses[:MOST_LINES])


class RequestPolicy:
    """``ftp``: whether this crawl asks FTP servers for a robots.txt (LOC-12)."""

    def __init__(self, settings: Settings, tokens: TokenSelector, *, ftp: bool) -> None:
        self._settings = settings
        self._tokens = tokens
        self._ftp = ftp
        overrides = settings.overrides.values() if settings.overrides else ()
        self.spaces = bool(
            settings.crawl_delay
            or settings.default_crawl_delay
            or any(override.crawl_delay for override in overrides)
        )
        """Whether :meth:`delay` may have an answer at all."""
        self.usage: UsagePolicy | None = None
        """Decides by usage preferences; None: the crawl declares no use."""
        if settings.usage:
            from scrapy_robotspec.access.usage_policy import UsagePolicy

            self.usage = UsagePolicy(settings.usage, settings.usage_policy)
        self.refuses_usage = self.usage is not None and self.usage.refuses

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
        # hot path
        origin = self.origin(request)
        if origin is None or not self._settings.overrides:
            return origin
        return None if self.replacement(origin) is not None else origin

    # --- overrides

    def override(self, origin: Origin) -> Override | None:
        """The user's override for the host of *origin*."""
        overrides = self._settings.overrides
        return overrides.find(origin) if overrides else None

    def replacement(self, origin: Origin) -> str | RobotsTxt | None:
        """The user's replacement of the robots.txt: a word or a text."""
        override = self.override(origin)
        return None if override is None else override.replacement

    def by_override(self, origin: Origin, request: Request) -> Decision | None:
        """The decision of an override, if there is one."""
        own = self.replacement(origin)
        if own is None:
            return None
        if isinstance(own, str):
            return Decision(allowed=own == "ignore", reason="override", origin=origin)
        verdict = own.explain_served(request.url, self._tokens(request))
        decision = Decision(verdict.allowed, "override", verdict, origin=origin)
        return self.with_usage(decision, request, None)

    # --- extensions

    def extensions(
        self, decision: Decision, request: Request, found: Resolved | None
    ) -> Extensions:
        """The extensions in the rules behind *decision*; *found* None: an override's."""
        if found is not None:
            return extensions_of(found.robots, found.extensions, self._tokens(request))
        override = None if decision.origin is None else self.override(decision.origin)
        if override is None or not isinstance(override.replacement, RobotsTxt):
            return NO_EXTENSIONS
        return extensions_of(override.replacement, override.extensions, self._tokens(request))

    def delay(self, found: Resolved, request: Request) -> float | None:
        """Seconds between two pages (EXT-01); None or 0: no delay.

        An override is preferred to the file, and the file to the default.
        """
        override = self.override(found.origin)
        if override is not None and override.crawl_delay is not None:
            return override.crawl_delay
        if self._settings.crawl_delay and found.extensions is not None:
            delay = extensions_of(found.robots, found.extensions, self._tokens(request)).crawl_delay
            if delay is not None:
                return min(delay, self._settings.crawl_delay_max)
        return self._settings.default_crawl_delay

    # --- usage preferences

    def with_usage(self, decision: Decision, request: Request, found: Resolved | None) -> Decision:
        """*decision* about *request*, or a refusal by usage preferences (USE-05)."""
        if self.usage is None or not decision.allowed:
            return decision
        usage = self.extensions(decision, request, found).usage_of(request.url)
        refusal = self.usage.refusal(usage, final=False)
        return decision if refusal is None else decision.refused_for(refusal)

    def refusal_of_page(self, usage: Usage, origin: Origin) -> UsageRefusal | None:
        """Why a downloaded page of *origin* with *usage* is refused, or None."""
        if self.usage is None or self.replacement(origin) == "ignore":
            return None
        return self.usage.refusal(usage, final=True)
