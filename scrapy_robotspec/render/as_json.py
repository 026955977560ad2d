"""Explanations, groups and findings as JSON: one object a line, printable ASCII.

The names of the keys are a promise to programs that read them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.usage import usage_object

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import GroupSummary
    from scrapy_robotspec.render.site import SiteAnswer

#: Fields of a record that are shown as they are.
_RECORD_KEYS = (
    *("redirect_error", "truncated", "content_type", "failure", "failures"),
    "unreachable_since",
)


def dumps(value: Any) -> str:
    """``value`` on one line; everything but printable ASCII is escaped (SAF-04)."""
    return json.dumps(value)


def verdict_object(verdict: Verdict | None) -> dict[str, Any]:
    """A verdict without nesting; null where no rule decides."""
    rule = verdict.rule if verdict is not None else None
    return {
        "allowed": verdict.allowed if verdict is not None else None,
        "reason": verdict.reason if verdict is not None else None,
        "line": rule.line if rule else None,
        "rule": rule.text if rule else None,
        "pattern": rule.pattern if rule else None,
        "group": list(verdict.group) if verdict is not None else [],
        "edition": verdict.edition if verdict is not None else None,
        "resolved": verdict.resolved if verdict is not None else None,
    }


def rule_object(rule: Rule) -> dict[str, Any]:
    """A rule with its line."""
    return {"line": rule.line, "rule": rule.text, "kind": rule.kind, "pattern": rule.pattern}


def short_object(found: Explanation) -> dict[str, Any]:
    """One URL and its decision."""
    shown: dict[str, Any] = {"url": found.url, "tokens": list(found.tokens)}
    shown |= verdict_object(found.verdict)
    shown |= {"allowed": found.allowed, "reason": found.reason}
    if found.site is not None:
        shown |= _decision_object(found.site)
    return shown


def _decision_object(site: SiteAnswer) -> dict[str, Any]:
    decision = site.decision
    if decision is None:
        return {"problem": site.problem}
    return {
        "edition": site.edition.name if site.edition is not None else None,
        "origin": str(decision.origin) if decision.origin is not None else None,
        "outcome": decision.outcome,
        "status": decision.status,
        "age": decision.age,
    }


def full_object(found: Explanation) -> dict[str, Any]:
    """One URL with everything that led to its decision."""
    shown = short_object(found)
    if found.group is not None:
        shown |= {"path": found.path, "matches": [rule_object(rule) for rule in found.matches]}
        shown |= group_object(found.group)
    if found.usage is not None:
        shown["usage"] = usage_object(found.usage)
    if found.site is not None:
        shown["seconds"] = round(found.site.seconds, 3)
        if found.site.origin is not None:
            shown["robots_url"] = found.site.origin.robots_url
        if found.site.record is not None:
            shown |= record_object(found.site.record)
            shown["fetched_now"] = found.site.fetched
    return shown


def group_object(group: GroupSummary) -> dict[str, Any]:
    """Everything a file contains for a crawler besides its rules."""
    return {
        "tokens": list(group.tokens),
        "group": list(group.names),
        "group_lines": list(group.first_lines),
        "crawl_delay": group.crawl_delay,
        "other": [asdict(line) for line in group.other],
    }


def record_object(record: RobotsRecord) -> dict[str, Any]:
    """The stored state of an origin, without the file."""
    lifetime = None
    if record.expires_at is not None and record.fetched_at is not None:
        lifetime = record.expires_at - record.fetched_at
    return {
        **{name: getattr(record, name) for name in _RECORD_KEYS},
        "hops": [asdict(hop) for hop in record.hops],
        "meaning": record.meaning.value if record.meaning is not None else None,
        "lifetime": lifetime,
        "bytes": len(record.body),
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding of the linter."""
    return asdict(finding)
