"""Explanations and file summaries as lines of text for a terminal."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.render.explanation import precedence_words
from scrapy_robotspec.render.text import (
    columns,
    count,
    crawler_words,
    duration,
    group_words,
    safe,
    verdict_word,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.render.explanation import Explanation
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile
    from scrapy_robotspec.render.text import Paint

#: Max lines of one kind; more are counted.
MOST = 50


def labelled(label: str, text: str) -> str:
    """One line of an explanation."""
    return f"  {label:<10} {text}".rstrip()


def short(found: Explanation, prefix: str, paint: Paint, labels: Sequence[str] = ()) -> str:
    """One decision on one line.

    ``labels``: usage labels to answer for. Text from outside comes last.
    """
    reason = paint("faint", f"({found.detail})")
    line = f"{verdict_word(found.allowed, paint)}  {prefix}{safe(found.url)}  {reason}"
    if labels and found.allowed:
        from scrapy_robotspec.render.usage import UsageAnswer, label_words

        words = (label_words(found.usage or UsageAnswer(), label) for label in labels)
        line += f"  {', '.join(words)}"
    return line


def explained(found: Explanation, paint: Paint, name: str = "") -> Iterator[str]:
    """One decision with everything that led to it.

    ``name``: the file, where there are many.
    """
    yield paint("strong", safe(f"{name}: {found.url}" if name else found.url))
    if found.allowed is None:
        yield labelled("problem", found.detail)
        return
    yield labelled("verdict", f"{verdict_word(found.allowed, paint)} ({found.detail})")
    if found.site is not None:
        from scrapy_robotspec.render.site import facts

        for label, text in facts(found.site):
            yield labelled(label, safe(text))
    yield labelled("crawler", found.crawler)
    if found.group is not None:
        yield from _rules(found, found.group)
    if edition := _edition(found):
        yield labelled("edition", edition)
    if found.site is not None:
        yield labelled("took", duration(found.site.seconds))


def _edition(found: Explanation) -> str:
    if found.verdict is not None:
        return found.verdict.edition
    edition = found.site.edition if found.site is not None else None
    return edition.name if edition is not None else ""


def _rules(found: Explanation, group: GroupSummary) -> Iterator[str]:
    """The group, and the rules that match."""
    yield labelled("group", group_words(group))
    yield labelled("compared", safe(found.path))
    if found.rule is not None or found.losing:  # else the verdict's line says why
        yield labelled("decided by", precedence_words(found))
    for label, rule in _by_precedence(found):
        yield labelled(label, f"line {rule.line}: {safe(rule.text.strip())}")
    yield from other_lines(group, without_usage=found.usage is not None)
    if found.usage is not None:
        for label, text in found.usage.facts():
            yield labelled(label, text)


def _by_precedence(found: Explanation) -> Iterator[tuple[str, Rule]]:
    if found.rule is not None:
        yield "decides", found.rule
    for other in found.losing[:MOST]:
        yield "loses", other


def other_lines(group: GroupSummary, *, without_usage: bool = False) -> Iterator[str]:
    """Lines of the group other than allow and disallow."""
    from scrapy_robotspec.protocol.usage import USAGE_FIELDS

    shown = (line for line in group.other if not (without_usage and line.field in USAGE_FIELDS))
    for line in islice(shown, MOST):
        yield labelled("also", f"line {line.line}: {safe(line.field)}: {safe(line.value)}")


def crawler_summary(file: ParsedFile, group: GroupSummary, paint: Paint) -> Iterator[str]:
    """Everything a file contains for one crawler."""
    yield paint("strong", crawler_words(group.tokens, file.written))
    yield labelled("group", group_words(group))
    yield from _bounded("rule", (f"line {r.line}: {safe(r.text.strip())}" for r in group.rules))
    if not group.rules:
        yield labelled("rules", "none, so everything is allowed")
    yield from other_lines(group)
    yield from _bounded("sitemap", map(safe, file.sitemaps))
    others = len(file.tokens) - len({*group.names} - {DEFAULT})
    if others:
        yield labelled("besides", f"{count(others, 'other crawler')} named in the file")


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
    yield from _bounded("sitemap", map(safe, file.sitemaps))


def _bounded(label: str, lines: Iterable[str]) -> Iterator[str]:
    shown = 0
    for shown, line in enumerate(lines, 1):
        if shown <= MOST:
            yield labelled(label, line)
    if shown > MOST:
        yield labelled(label, f"… and {shown - MOST:,} more")
