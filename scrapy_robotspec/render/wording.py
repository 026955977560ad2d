"""Verdicts, crawlers and groups in a few words, escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.render.text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.models import Verdict
    from scrapy_robotspec.render.parsed_file import GroupSummary
    from scrapy_robotspec.render.terminal import Screen


def verdict_word(allowed: bool | None, screen: Screen) -> str:
    """``allowed``, ``disallowed`` or ``no answer``, painted and equally wide."""
    if allowed is None:
        return screen.paint("note", "no answer ")
    return screen.paint(*(("good", "allowed   ") if allowed else ("bad", "disallowed")))


def crawler_words(tokens: Sequence[str], names: Mapping[str, str] | None = None) -> str:
    """The crawler's name; with the name as written where the file's differs."""
    if not tokens:
        return "any other crawler"
    return ", then ".join(_name(token, names) for token in tokens)


def _name(token: str, names: Mapping[str, str] | None) -> str:
    written = names.get(token) if names else None
    return f"{safe(written)} (read as {safe(token)})" if written else safe(token)


def group_words(group: GroupSummary) -> str:
    """The group that applies and why (UAG-01, UAG-05)."""
    if not group.names:
        cause = "no group names it" if group.tokens else "no group is for every crawler"
        return f"none: {cause}, so everything is allowed"
    lines = listed([str(line) for line in group.first_lines[:10]])
    at = f"from line {lines}" if len(group.first_lines) == 1 else f"combined from lines {lines}"
    if group.names == (DEFAULT,):
        reason = "no group names the crawler" if group.tokens else "the group for all others"
        return f"* ({at}): {reason}"
    return f"{safe(', '.join(group.names))} ({at}): the most specific name that matches"


def reason_words(verdict: Verdict) -> str:
    """The reason of a verdict."""
    rule = verdict.rule
    if rule is not None:
        return f"line {rule.line}: {safe(rule.text.strip())}"
    return {
        "no_rule": "no rule of the group matches",
        "no_group": "no group applies",
        "robots_txt_itself": "/robots.txt itself is always allowed",
        "rule": "",
    }[verdict.reason]
