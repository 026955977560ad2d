"""An explanation as lines of text: labels on the left, the road to the verdict on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.show.answers import (
    crawler_words,
    group_words,
    matches_words,
    reason_words,
)
from scrapy_robotspec.show.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.show.answers import Answer
    from scrapy_robotspec.show.book import Book, Followed
    from scrapy_robotspec.show.terminal import Screen

#: More lines of one kind than this are counted instead of shown.
MOST = 50


def labelled(label: str, text: str) -> str:
    """One line of an explanation."""
    return f"  {label:<10} {text}".rstrip()


def allowed_word(allowed: bool, screen: Screen) -> str:
    """``allowed`` or ``disallowed``, painted and equally wide."""
    return screen.paint(*(("good", "allowed   ") if allowed else ("bad", "disallowed")))


def verdict_word(verdict: Verdict, screen: Screen) -> str:
    """As :func:`allowed_word`."""
    return allowed_word(verdict.allowed, screen)


def explained(found: Answer, group: Followed, screen: Screen) -> Iterator[str]:
    """Everything about one answer."""
    verdict = found.verdict
    yield screen.paint("strong", safe(found.url))
    yield labelled("verdict", f"{verdict_word(verdict, screen)} ({reason_words(verdict)})")
    yield from rules_asked(found, group)
    yield labelled("edition", verdict.edition)


def rules_asked(found: Answer, group: Followed) -> Iterator[str]:
    """The crawler, its group, and the rules that match."""
    yield labelled("crawler", crawler_words(found.tokens))
    yield labelled("group", group_words(group))
    yield labelled("compared", safe(found.path))
    yield labelled("decided by", matches_words(found))
    for label, rule in _ranked(found):
        yield labelled(label, f"line {rule.line}: {safe(rule.text.strip())}")
    yield from asked_besides(group)


def _ranked(found: Answer) -> Iterator[tuple[str, Rule]]:
    """The rules that match, the deciding one first, each with its role."""
    rule = found.verdict.rule
    if rule is not None:
        yield "decides", rule
    for other in found.losing[:MOST]:
        yield "loses", other


def asked_besides(group: Followed) -> Iterator[str]:
    """What the group asks for beyond allow and disallow."""
    for line in group.other[:MOST]:
        text = f"{safe(line.field)}: {safe(line.value)}"
        yield labelled("also", f"line {line.line}: {text}")


def overview(book: Book, group: Followed, screen: Screen) -> Iterator[str]:
    """What a file holds for one crawler."""
    yield screen.paint("strong", crawler_words(group.tokens))
    yield labelled("group", group_words(group))
    yield from _bounded("rule", (f"line {r.line}: {safe(r.text.strip())}" for r in group.rules))
    if not group.rules:
        yield labelled("rules", "none, so everything is allowed")
    yield from asked_besides(group)
    yield from _bounded("sitemap", map(safe, book.sitemaps))
    others = len(book.tokens) - len({*group.names} - {DEFAULT})
    if others:
        yield labelled("besides", f"{count(others, 'other crawler')} named in the file")


def _bounded(label: str, lines: Iterable[str]) -> Iterator[str]:
    shown = 0
    for shown, line in enumerate(lines, 1):
        if shown <= MOST:
            yield labelled(label, line)
    if shown > MOST:
        yield labelled(label, f"… and {shown - MOST:,} more")
