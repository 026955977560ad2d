"""Fields of a logged decision, shared by crawl and replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import Resolved

#: Max logged length of a rule (characters).
_MAX_RULE = 200


def conclusion(decision: Decision) -> dict[str, Any]:
    """The decision, and the line that decided."""
    verdict, usage = decision.verdict, decision.usage
    rule = verdict.rule if verdict is not None else None
    said: dict[str, Any] = {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "line": None if rule is None else rule.line,
        "rule": None if rule is None else rule.text[:_MAX_RULE],
        "group": None if verdict is None else list(verdict.group),
    }
    if usage is not None:
        said |= {"line": usage.line, "rule": None, "label": usage.label}
    return said


#: Values of ``policy`` besides those of :class:`~scrapy_robotspec.access.policy.Action`.
OVERRIDE, NO_ANSWER = "override", "no_answer"


def grounds(found: Resolved | None, *, otherwise: str = OVERRIDE) -> dict[str, Any]:
    """The state of the origin that the decision rests on.

    *otherwise*: the value of ``policy`` where nothing was *found*.
    """
    if found is None:
        return {"policy": otherwise, "outcome": None, "status": None, "stale": False}
    return {
        "policy": found.action.value,
        "outcome": found.provenance.outcome,
        "status": found.provenance.status,
        "stale": found.unreachable and found.fetched_at is not None,
    }


def stated_usage(preferences: Mapping[str, str]) -> dict[str, Any]:
    """The usage preferences of a page, if there are any."""
    return {"usage": dict(preferences)} if preferences else {}
