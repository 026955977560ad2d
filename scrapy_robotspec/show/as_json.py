"""Answers as JSON: one object on one line, in plain ASCII, so that no terminal is steered.

The names of the keys are a promise to whoever reads them by program.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.models import Finding, Rule, Verdict
    from scrapy_robotspec.show.answers import Answer
    from scrapy_robotspec.show.book import Followed


def dumps(value: Any) -> str:
    """``value`` on one line; everything that is not printable ASCII is escaped (SAF-04)."""
    return json.dumps(value)


def verdict_object(verdict: Verdict) -> dict[str, Any]:
    """A verdict, flat: the deciding rule's parts are null where no rule decides."""
    rule = verdict.rule
    return {
        "allowed": verdict.allowed,
        "reason": verdict.reason,
        "line": rule.line if rule else None,
        "rule": rule.text if rule else None,
        "pattern": rule.pattern if rule else None,
        "group": list(verdict.group),
        "edition": verdict.edition,
    }


def rule_object(rule: Rule) -> dict[str, Any]:
    """A rule with its line."""
    return {"line": rule.line, "rule": rule.text, "kind": rule.kind, "pattern": rule.pattern}


def answer_object(found: Answer) -> dict[str, Any]:
    """One question and its verdict."""
    return {"url": found.url, "tokens": list(found.tokens), **verdict_object(found.verdict)}


def explained_object(found: Answer, group: Followed) -> dict[str, Any]:
    """One question with all that led to its verdict."""
    return {
        **answer_object(found),
        "path": found.path,
        "matches": [rule_object(rule) for rule in found.matches],
        **followed_object(group),
    }


def followed_object(group: Followed) -> dict[str, Any]:
    """What holds for a crawler whatever the URL."""
    return {
        "tokens": list(group.tokens),
        "group": list(group.names),
        "group_lines": list(group.first_lines),
        "crawl_delay": group.crawl_delay,
        "other": [asdict(line) for line in group.other],
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """What the linter has to say about one line."""
    return {
        "line": finding.line,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "text": finding.text,
    }
