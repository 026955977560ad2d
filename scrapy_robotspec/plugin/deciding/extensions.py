"""Extensions of a group, and ``request.meta["robotspec"]``.

Crawl delay (EXT-01), other lines (EXT-03), usage statements (USE-01, USE-07) and licenses (USE-06)
only; allow and disallow lines make the verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.settings.tokens import Tokens
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage_rules import UsageRules

#: Max number of other lines kept for a request; only hostile files have more.
MOST_LINES = 100

#: Answers kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8


@dataclass(frozen=True, slots=True)
class Extensions:
    """Values by field (lower case), in file order."""

    fields: Mapping[str, tuple[str, ...]]
    crawl_delay: float | None
    """Seconds; None: none is asked for."""
    usage: UsageRules | None = None
    """The usage statements; None if there are none."""
    licenses: tuple[str, ...] = ()

    def usage_of(self, url: str) -> Usage:
        """The usage preferences of a URL that may be crawled."""
        return self.usage.find(url) if self.usage is not None else Usage()


NO_EXTENSIONS = Extensions(MappingProxyType({}), None)


def extensions_of(found: Resolved, tokens: Tokens) -> Extensions:
    """The extensions in the file of *found* for *tokens*."""
    if found.robots is None or found.extensions is None:
        return NO_EXTENSIONS
    answer: Extensions | None = found.extensions.get(tokens)
    if answer is None:
        if len(found.extensions) > _KEPT:
            found.extensions.clear()
        answer = found.extensions[tokens] = read_extensions(found.robots, tokens)
    return answer


def read_extensions(robots: RobotsTxt, tokens: Tokens) -> Extensions:
    """The extensions in *robots* for *tokens*."""
    fields: dict[str, tuple[str, ...]] = {}
    for line in robots.other(tokens)[:MOST_LINES]:
        fields[line.field] = (*fields.get(line.field, ()), line.value)
    licenses = robots.licenses[:MOST_LINES]
    usage = robots.usage_rules(tokens) or None
    if not (fields or licenses or usage):
        return NO_EXTENSIONS
    return Extensions(fields, robots.crawl_delay(tokens), usage, licenses)


def summarize(decision: Decision, extensions: Extensions, url: str) -> dict[str, Any]:
    """``request.meta["robotspec"]``: the values of *decision*, which can be pickled."""
    verdict = decision.verdict
    rule = verdict.rule if verdict is not None else None
    # hot path
    summary: dict[str, Any] = {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "pattern": rule.pattern if rule is not None else None,
        "line": rule.line if rule is not None else None,
        "group": verdict.group if verdict is not None else (),
        "edition": verdict.edition if verdict is not None else None,
        "outcome": decision.outcome,
        "status": decision.status,
        "age": decision.age,
        "origin": str(decision.origin),
        "other": dict(extensions.fields),
    }
    if extensions.usage is not None and (usage := extensions.usage_of(url)).statements:
        summary["usage"] = usage
    if extensions.licenses:
        summary["licenses"] = extensions.licenses
    return summary
