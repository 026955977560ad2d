"""RequestPolicy: the origin of a request, overrides, extensions and usage preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.decision import Decision, decision_by
from scrapy_robotspec.access.origin import Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.overrides import Override
    from scrapy_robotspec.access.usage_policy import UsagePolicy, UsageRefusal
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
    from scrapy_robotspec.plugin.settings.composite import Tokens
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage, UsageRules

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


NO_EXTENSIONS = Extensions({}, None)


#: Answers kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8


def read_extensions(robots: RobotsTxt, tokens: Tokens) -> Extensions:
    """The extensions in *robots* for *tokens*."""
    fields: dict[str, tuple[str, ...]] = {}
    for line in robots.other(tokens)[:MOST_LINES]:
        fields[line.field] = (*fields.get(line.field, ()), line.value)
    usage = robots.usage_rules(tokens) or None
    return Extensions(fields, robots.crawl_delay(tokens), usage, robots.licenses[:MOST_LINES])


class Answer(NamedTuple):
    """The decision about a request, and what it was made from."""

    decision: Decision
    found: Resolved | None
    """None: an override needs no robots.txt."""
    extensions: Extensions = NO_EXTENSIONS
    usage: Usage | None = None
    """The usage preferences of a page that may be crawled; None: no line states any."""


class RequestPolicy:
    """``ftp``: whether this crawl asks FTP servers for a robots.txt (LOC-12)."""

    def __init__(self, settings: Settings, tokens: TokenSelector, *, ftp: bool) -> None:
        self._settings = settings
        self._tokens = tokens
        self._ftp = ftp
        overrides = (settings.overrides or {}).values()
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

    def origin(self, request: Request) -> Origin | None:
        """The origin whose robots.txt governs *request*; None where none does."""
        if request.meta.get("dont_obey_robotstxt"):  # APP-01
            return None
        origin = Origin.of(request.url)  # LOC-11
        if origin is not None and not self._ftp and origin.startswith("ftp:"):
            return None
        return origin

    # --- decisions

    def by_rules(self, found: Resolved, request: Request, now: float) -> Answer:
        """Decide about *request* by rules, then by usage preferences (USE-05)."""
        # hot path
        tokens = self._tokens.select(request)
        url = request.url
        decision = found.decide(url, tokens, now)
        if found.robots is not None and found.extensions is not None:
            return self._extend(decision, found, found.robots, found.extensions, tokens, url)
        fields = decision, found, NO_EXTENSIONS, None
        return tuple.__new__(Answer, fields)  # as Answer(...), at half its cost

    def by_override(self, origin: Origin, request: Request) -> Answer | None:
        """The answer of an override, if there is one."""
        override = self.override(origin)
        if override is None or override.replacement is None:
            return None
        own = override.replacement
        tokens = () if isinstance(own, str) else self._tokens.select(request)
        decision = decision_by(own, origin, request.url, tokens)
        if isinstance(own, str):
            return Answer(decision, None)
        return self._extend(decision, None, own, override.extensions, tokens, request.url)

    def _extend(
        self,
        decision: Decision,
        found: Resolved | None,
        robots: RobotsTxt,
        kept: dict[Tokens, Extensions],
        tokens: Tokens,
        url: str,
    ) -> Answer:
        """*decision* with the other lines of *robots*; usage preferences may refuse it.

        *kept* caches the extensions.
        """
        # hot path
        extensions, usage = kept.get(tokens), None
        if extensions is None:
            if len(kept) >= _KEPT:
                kept.clear()
            extensions = kept[tokens] = read_extensions(robots, tokens)
        if extensions.usage is not None and decision.allowed:
            usage = extensions.usage.find(url)
            if self.usage is not None and (refusal := self.usage.refusal(usage, final=False)):
                decision = decision.refused_for(refusal)
        return tuple.__new__(Answer, (decision, found, extensions, usage))

    def refusal_of_page(self, usage: Usage | None, origin: Origin) -> UsageRefusal | None:
        """Why a downloaded page of *origin* with *usage* is refused, or None."""
        if self.usage is None or self.replacement(origin) == "ignore":
            return None
        return self.usage.refusal(usage, final=True)

    def delay(self, answer: Answer) -> float | None:
        """Seconds between two pages (EXT-01); None or 0: no delay.

        An override is preferred to the file, and the file to the default.
        """
        if not self.spaces or answer.found is None or not answer.decision.allowed:
            return None
        override = self.override(answer.found.origin)
        if override is not None and override.crawl_delay is not None:
            return override.crawl_delay
        delay = answer.extensions.crawl_delay if self._settings.crawl_delay else None
        if delay is None:
            return self._settings.default_crawl_delay
        return min(delay, self._settings.crawl_delay_max)

    # --- overrides

    def override(self, origin: Origin) -> Override | None:
        """The user's override for the host of *origin*."""
        overrides = self._settings.overrides
        return overrides.find(origin) if overrides else None

    def replacement(self, origin: Origin) -> str | RobotsTxt | None:
        """The user's replacement of the robots.txt: a word or a text."""
        override = self.override(origin)
        return None if override is None else override.replacement
