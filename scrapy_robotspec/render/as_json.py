"""Explanations, groups and findings as JSON: one object a line, printable ASCII.

The names of the keys are a promise to programs that read them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.render.explanation import Explanation, compared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement
    from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens

#: A JSON object.
Object = dict[str, Any]

#: Members of a crawler's group besides its names and rules.
_OF_GROUP = ("crawl_delay", "other", "group_lines")


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
    group, record = found.group, found.record
    return {
        **short_object(found),
        "path": group and found.path,
        "matches": group and [rule_object(rule, found.edition) for rule in found.matches],
        **members(group, *_OF_GROUP),
        "usage": found.usage and _usage_object(found, found.usage),
        "seconds": found.seconds and round(found.seconds, 3),
        "robots_url": found.origin and found.origin.robots_url,
        **members(record, "redirect_error", "truncated", "content_type", "failure", "failures"),
        **members(record, "unreachable_since", "hops", "meaning", "lifetime"),
        "bytes": record and len(record.body),
        "fetched_now": record and found.fetched,
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


def file_objects(name: str, file: ParsedFile, asked: Sequence[Tokens]) -> Iterator[Object]:
    """An object for each crawler, without the groups of the file.

    For none: one with all groups, and what holds for any other crawler.
    """
    robots = file.robots
    groups = [
        {
            "line": group.first_line,
            "user_agents": [file.written.get(token, token) for token in group.tokens],
            "rules": [rule_object(rule, robots.edition) for rule in group.rules],
        }
        for group in file.groups
    ]
    shown = {
        "file": name,
        "bytes": len(robots.body),
        "truncated": robots.truncated,
        "edition": robots.edition.name,
        "sitemaps": file.sitemaps,
        "licenses": file.for_all.licenses,
        "statements": [_statement_object(each) for each in file.for_all.statements],
        "groups": None if asked else groups,  # thousands of crawlers would repeat them
    }
    for tokens in asked or [()]:
        found = file.group_for(tokens)
        yield {
            **shown,
            "tokens": tokens,
            "group": found.names,
            **members(found, *_OF_GROUP),
            "rules": [rule_object(rule, robots.edition) for rule in found.rules],
        }
