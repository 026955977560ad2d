"""Explanations, groups and findings as JSON: one object a line, printable ASCII.

The names of the keys are a promise to programs that read them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.explanation import Explanation, compared

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile

#: A JSON object.
Object = dict[str, Any]


def dumps(value: Any) -> str:
    """``value`` on one line; everything but printable ASCII is escaped (SAF-04).

    A dataclass becomes an object of its fields.
    """
    return json.dumps(value, default=asdict)


def verdict_object(found: Explanation) -> Object:
    """A verdict without nesting; null where nothing decides."""
    usage = found.decision and found.decision.usage
    return {
        "allowed": found.allowed,
        "reason": found.reason,
        **rule_object(found.rule, found.edition),
        **members(usage or found.rule, "line"),
        **members(found.verdict, "group", "resolved"),
        "edition": found.edition and found.edition.name,
    }


def members(value: object, *names: str) -> Object:
    """Attributes of *value* by name, null where it lacks them."""
    return {name: getattr(value, name, None) for name in names}


def rule_object(rule: Rule | None, edition: Edition | None) -> Object:
    """A rule: its line, its pattern as written and as read."""
    return {
        **members(rule, "line", "kind", "pattern"),
        "rule": rule and rule.text,
        "read_as": rule and edition and compared(rule, edition),
    }


def short_object(found: Explanation) -> Object:
    """One URL and its decision."""
    return {
        "url": found.url,
        "tokens": found.tokens,
        **verdict_object(found),
        "origin": found.origin and str(found.origin),
        **members(found.decision, "outcome", "status", "age"),
        "problem": found.problem,
    }


def full_object(found: Explanation) -> Object:
    """One URL with everything that led to its decision."""
    group = found.group
    return {
        **short_object(found),
        "path": group and found.path,
        "matches": group and [rule_object(rule, found.edition) for rule in found.matches],
        **group_object(group),
        "usage": found.usage and _usage_object(found, found.usage),
        "seconds": found.seconds and round(found.seconds, 3),
        "robots_url": found.origin and found.origin.robots_url,
        **record_object(found.record),
        "fetched_now": found.record and found.fetched,
    }


def _usage_object(found: Explanation, usage: Usage) -> Object:
    """The usage preferences of a page, with the statements of the file for the crawler."""
    return {
        "applies": usage.applies,
        "preferences": dict(usage.preferences),
        "statements": [
            {**_statement_object(each), "decides": decides}
            for decides, group in ((True, usage.statements), (False, found.unused))
            for each in group
        ],
        "licenses": found.licenses,
    }


def _statement_object(statement: UsageStatement) -> Object:
    return {**asdict(statement), "preferences": dict(statement.preferences)}


def file_object(name: str, file: ParsedFile) -> Object:
    """A file: its size, and every group."""
    robots = file.robots
    return {
        "file": name,
        "bytes": len(robots.body),
        "truncated": robots.truncated,
        "edition": robots.edition.name,
        "sitemaps": file.sitemaps,
        "licenses": file.for_all.licenses,
        "statements": [_statement_object(each) for each in file.for_all.statements],
        "groups": [
            {
                "line": group.first_line,
                "user_agents": [file.written.get(token, token) for token in group.tokens],
                "rules": [rule_object(rule, robots.edition) for rule in group.rules],
            }
            for group in file.groups
        ],
    }


def crawler_object(group: GroupSummary, edition: Edition) -> Object:
    """Everything a file contains for a crawler."""
    return {
        "tokens": group.tokens,
        "group": group.names,
        **group_object(group),
        "rules": [rule_object(rule, edition) for rule in group.rules],
    }


def group_object(group: GroupSummary | None) -> Object:
    """A crawler's group besides its names and rules."""
    return {**members(group, "crawl_delay", "other"), "group_lines": group and group.first_lines}


def record_object(record: RobotsRecord | None) -> Object:
    """The stored state of an origin, without the file."""
    return {
        **members(record, "redirect_error", "truncated", "content_type", "failure", "failures"),
        **members(record, "unreachable_since", "hops", "meaning", "lifetime"),
        "bytes": record and len(record.body),
    }
