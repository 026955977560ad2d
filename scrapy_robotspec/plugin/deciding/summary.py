"""``request.meta["robotspec"]``: the decision about a request that was let through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.plugin.deciding.extensions import Extensions


def summarize(decision: Decision, extensions: Extensions, url: str) -> dict[str, Any]:
    """The values of *decision* that users see; all can be pickled."""
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
