"""Explanations and file summaries as lines of text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import POLICY_TOKENS
from scrapy_robotspec.render.explanation import (
    Explanation,
    crawler_words,
    facts,
    other_facts,
    rule_words,
    statement_words,
)
from scrapy_robotspec.render.text import columns, paint, safe, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.protocol.models import OtherLine
    from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens


def labelled(label: str, text: str) -> str:
    """One line of an explanation."""
    return f"  {label:<10} {text}".rstrip()


def short(found: Explanation, prefix: str) -> str:
    """One decision on one line. Text from outside comes last."""
    reason = paint("faint", f"({found.detail})")
    word = f"{verdict_word(found.allowed)} "
    if found.reason == "not_covered":
        word = paint("note", "not covered")
    return f"{word} {prefix}{safe(found.url)}  {reason}"


def explained(found: Explanation, name: str = "") -> Iterator[str]:
    """One decision with everything that led to it.

    ``name``: the file, where there are many.
    """
    yield paint("strong", safe(f"{name}: {found.url}" if name else found.url))
    if found.allowed is None:
        yield labelled("problem", found.detail)
        return
    yield labelled("verdict", f"{verdict_word(found.allowed)} ({found.detail})")
    for label, text in facts(found):
        yield labelled(label, text)


def file_lines(name: str, file: ParsedFile, asked: Sequence[Tokens]) -> Iterator[str]:
    """The groups of a file, or everything it contains for some crawlers."""
    yield paint("strong", f"{safe(name)}: {file.summary()}")
    if file.groups and not asked:
        rows = [("line", "allow", "disallow", "user agents")]
        for group in file.groups:
            allows = sum(rule.kind == "allow" for rule in group.rules)
            names = ", ".join(_name(file, token) for token in group.tokens)
            disallows = str(len(group.rules) - allows)
            rows.append((str(group.first_line), str(allows), disallows, names or "none"))
        heading, *lines = columns(rows)
        yield paint("faint", f"  {heading}")
        yield from (f"  {line}" for line in lines)
    if not asked:
        yield from _for_all(file)
    for tokens in asked:
        found = file.group_for(tokens)
        yield ""
        yield paint("strong", crawler_words(tokens, file.written))
        yield labelled("group", found.words)
        for rule in found.rules:
            yield labelled("rule", rule_words(rule, file.robots.edition))
        if not found.rules:
            yield labelled("rules", "none, so everything is allowed")
        yield from (labelled(*fact) for fact in other_facts(found))
        yield from _for_all(file, found.other)


def _name(file: ParsedFile, token: str) -> str:
    use = " (policy token)" if token.lower() in POLICY_TOKENS else ""
    return f"{crawler_words((token,), file.written)}{use}"


def _for_all(file: ParsedFile, others: Iterable[OtherLine] = ()) -> Iterator[str]:
    """The lines that hold for every crawler, except those among the *others* of a group."""
    shown = {line.line for line in others}
    yield from (labelled("sitemap", safe(url)) for url in file.sitemaps)
    yield from (labelled("license", safe(url)) for url in file.for_all.licenses)
    for each in file.for_all.statements:
        if each.line not in shown:
            yield labelled("for all", statement_words(each))
