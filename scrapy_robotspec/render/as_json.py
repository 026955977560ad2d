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

#: Fields of a finding that are shown as they are.
_FINDING_FIELDS = ("line", "code", "message", "text", "severity", "replacement")
#: Fields of a record that are shown as they are.
_RECORD_FIELDS = (
    *("redirect_error", "truncated", "content_type", "failure", "failures"),
    "unreachable_since",
)
#: Keys of a full object that a file or a site may lack.
_FULL_KEYS = (
    *("path", "matches", "group_lines", "crawl_delay", "other", "usage", "seconds", "robots_url"),
    *(*_RECORD_FIELDS, "hops", "meaning", "lifetime", "bytes", "fetched_now"),
)


def dumps(value: Any) -> str:
    """``value`` on one line; everything but printable ASCII is escaped (SAF-04).

    A dataclass becomes an object of its fields.
    """
    return json.dumps(value, default=asdict)


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
    shown = {**short_object(found), **dict.fromkeys(_FULL_KEYS)}
    site = found.site
    if found.group is not None:
        matches = [rule_object(rule, found.edition) for rule in found.matches]
        shown |= {"path": found.path, "matches": matches, **group_object(found.group)}
    if found.usage is not None:
        shown["usage"] = usage_object(found.usage)
    if site is not None:
        shown["seconds"] = round(site.seconds, 3)
        shown["robots_url"] = site.origin and site.origin.robots_url
        if site.record is not None:
            shown |= {**record_object(site.record), "fetched_now": site.fetched}
    return shown


def file_object(name: str, file: ParsedFile) -> dict[str, Any]:
    """A file: its size, and every group."""
    robots = file.robots
    return {
        "file": name,
        "bytes": len(robots.body),
        "truncated": robots.truncated,
        "edition": robots.edition.name,
        "sitemaps": file.sitemaps,
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
    return {
        "group_lines": group.first_lines,
        "crawl_delay": group.crawl_delay,
        "other": group.other,
    }


def record_object(record: RobotsRecord) -> dict[str, Any]:
    """The stored state of an origin, without the file."""
    lifetime = None
    if record.expires_at is not None and record.fetched_at is not None:
        lifetime = record.expires_at - record.fetched_at
    return {
        **{name: getattr(record, name) for name in _RECORD_FIELDS},
        "hops": record.hops,
        "meaning": record.meaning and record.meaning.value,
        "lifetime": lifetime,
        "bytes": len(record.body),
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding of the linter, without its claims, which the message states."""
    return {name: getattr(finding, name) for name in _FINDING_FIELDS}
