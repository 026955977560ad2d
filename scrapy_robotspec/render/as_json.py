"""Explanations, groups and findings as JSON: one object a line, printable ASCII.

The names of the keys are a promise to programs that read them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.explanation import compared
from scrapy_robotspec.render.usage import usage_object

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile

#: Keys about a crawler's group besides its names.
_GROUP_KEYS = ("group_lines", "crawl_delay", "other")
#: Fields of a record that are shown as they are.
_RECORD_FIELDS = (
    *("redirect_error", "truncated", "content_type", "failure", "failures"),
    "unreachable_since",
)
_RECORD_KEYS = (*_RECORD_FIELDS, "hops", "meaning", "lifetime", "bytes")


def dumps(value: Any) -> str:
    """``value`` on one line; everything but printable ASCII is escaped (SAF-04)."""
    return json.dumps(value)


def verdict_object(found: Explanation) -> dict[str, Any]:
    """A verdict without nesting; null where nothing decides."""
    verdict = found.verdict
    return {
        "allowed": found.allowed,
        "reason": found.reason,
        **rule_object(verdict.rule if verdict else None, found.edition),
        "group": verdict and verdict.group,
        "edition": found.edition and found.edition.name,
        "resolved": verdict and verdict.resolved,
    }


def rule_object(rule: Rule | None, edition: Edition | None) -> dict[str, Any]:
    """A rule: its line, its pattern as written and as read."""
    keys = {"line": "line", "rule": "text", "kind": "kind", "pattern": "pattern"}
    shown = {key: getattr(rule, name, None) for key, name in keys.items()}
    return {**shown, "read_as": rule and edition and compared(rule, edition)}


def short_object(found: Explanation) -> dict[str, Any]:
    """One URL and its decision."""
    site = found.site
    decision = site and site.decision
    origin = decision and decision.origin
    return {
        "url": found.url,
        "tokens": found.tokens,
        **verdict_object(found),
        "origin": origin and str(origin),
        **{name: getattr(decision, name, None) for name in ("outcome", "status", "age")},
        "problem": site and site.problem,
    }


def full_object(found: Explanation) -> dict[str, Any]:
    """One URL with everything that led to its decision."""
    site, group, edition = found.site, found.group, found.edition
    return {
        **short_object(found),
        "path": group and found.path,
        "matches": group and [rule_object(rule, edition) for rule in found.matches],
        **(group_object(group) if group else dict.fromkeys(_GROUP_KEYS)),
        "usage": found.usage and usage_object(found.usage),
        "seconds": site and round(site.seconds, 3),
        "robots_url": site and site.origin and site.origin.robots_url,
        **(record_object(site.record) if site and site.record else dict.fromkeys(_RECORD_KEYS)),
        "fetched_now": site and site.record and site.fetched,
    }


def file_object(name: str, file: ParsedFile) -> dict[str, Any]:
    """A file: its size, and every group."""
    robots = file.robots
    return {
        "file": name,
        "bytes": len(robots.body),
        "truncated": robots.truncated,
        "edition": robots.edition.name,
        "sitemaps": robots.sitemaps,
        "groups": [
            {
                "line": group.first_line,
                "user_agents": [file.written.get(token, token) for token in group.tokens],
                "rules": [rule_object(rule, robots.edition) for rule in group.rules],
            }
            for group in file.groups
        ],
    }


def crawler_object(group: GroupSummary, edition: Edition) -> dict[str, Any]:
    """Everything a file contains for a crawler."""
    return {
        "tokens": group.tokens,
        "group": group.names,
        **group_object(group),
        "rules": [rule_object(rule, edition) for rule in group.rules],
    }


def group_object(group: GroupSummary) -> dict[str, Any]:
    """A crawler's group besides its names and rules."""
    others = [asdict(line) for line in group.other]
    return dict(zip(_GROUP_KEYS, (group.first_lines, group.crawl_delay, others), strict=True))


def record_object(record: RobotsRecord) -> dict[str, Any]:
    """The stored state of an origin, without the file."""
    lifetime = None
    if record.expires_at is not None and record.fetched_at is not None:
        lifetime = record.expires_at - record.fetched_at
    return {
        **{name: getattr(record, name) for name in _RECORD_FIELDS},
        "hops": [asdict(hop) for hop in record.hops],
        "meaning": record.meaning and record.meaning.value,
        "lifetime": lifetime,
        "bytes": len(record.body),
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding of the linter, without its claims, which the message states."""
    return {name: value for name, value in asdict(finding).items() if name != "claims"}
