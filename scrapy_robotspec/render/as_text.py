"""Explanations and file summaries as lines of text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.render.explanation import MOST, facts, other_facts, rule_words
from scrapy_robotspec.render.text import (
    columns,
    crawler_words,
    group_words,
    safe,
    verdict_word,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile
    from scrapy_robotspec.render.text import Paint


def labelled(label: str, text: str) -> str:
    """One line of an explanation."""
    return f"  {label:<10} {text}".rstrip()


def short(found: Explanation, prefix: str, paint: Paint) -> str:
    """One decision on one line. Text from outside comes last."""
    reason = paint("faint", f"({found.detail})")
    return f"{verdict_word(found.allowed, paint)}  {prefix}{safe(found.url)}  {reason}"


def explained(found: Explanation, paint: Paint, name: str = "") -> Iterator[str]:
    """One decision with everything that led to it.

    ``name``: the file, where there are many.
    """
    yield paint("strong", safe(f"{name}: {found.url}" if name else found.url))
    if found.allowed is None:
        yield labelled("problem", found.detail)
        return
    yield labelled("verdict", f"{verdict_word(found.allowed, paint)} ({found.detail})")
    for label, text in facts(found):
        yield labelled(label, text)


def crawler_summary(file: ParsedFile, group: GroupSummary, paint: Paint) -> Iterator[str]:
    """Everything a file contains for one crawler."""
    yield paint("strong", crawler_words(group.tokens, file.written))
    yield labelled("group", group_words(group))
    yield from _bounded("rule", map(rule_words, group.rules))
    if not group.rules:
        yield labelled("rules", "none, so everything is allowed")
    yield from (labelled(*fact) for fact in other_facts(group))
    yield from _bounded("sitemap", map(safe, file.robots.sitemaps))


def file_summary(file: ParsedFile, paint: Paint) -> Iterator[str]:
    """The groups and sitemaps of a file, one line each."""
    rows = [("line", "allow", "disallow", "user agents")]
    for group in file.groups[:MOST]:
        allows = sum(rule.kind == "allow" for rule in group.rules)
        named = [file.written.get(token, token) for token in group.tokens]
        names = safe(", ".join(named)) or "none"
        row = (str(group.first_line), str(allows), str(len(group.rules) - allows), names)
        rows.append(row)
    heading, *lines = columns(rows)
    if lines:
        yield paint("faint", f"  {heading}")
    yield from (f"  {line}" for line in lines)
    if len(file.groups) > MOST:
        yield f"  … and {len(file.groups) - MOST:,} more groups"
    yield from _bounded("sitemap", map(safe, file.robots.sitemaps))


def _bounded(label: str, lines: Iterable[str]) -> Iterator[str]:
    shown = 0
    for shown, line in enumerate(lines, 1):
        if shown <= MOST:
            yield labelled(label, line)
    if shown > MOST:
        yield labelled(label, f"… and {shown - MOST:,} more")
