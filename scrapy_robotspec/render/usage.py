"""The usage preferences of an explanation, in words and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.access.usage_policy import as_written
from scrapy_robotspec.render.text import MOST, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement


class UsageAnswer(NamedTuple):
    """A file's statements about the use of one page."""

    usage: Usage
    hidden: tuple[UsageStatement, ...]
    """Statements for the crawler that are not about the page, or that a longer path hides."""
    licenses: tuple[str, ...]

    def facts(self) -> Iterator[tuple[str, str]]:
        """Label and text of each line to show, escaped."""
        if self.usage.statements or self.hidden:
            yield "usage", preference_words(self.usage)
        for statement in self.usage.statements[:MOST]:
            yield "states", statement_words(statement)
        for statement in self.hidden[:MOST]:
            yield "unused", statement_words(statement)
        for license_url in self.licenses[:MOST]:
            yield "license", safe(license_url)


def usage_answer(robots: RobotsTxt, url: str | bytes, tokens: Sequence[str]) -> UsageAnswer:
    """The statements of *robots* about the use of *url* by a crawler."""
    usage = robots.usage(url, tokens)
    deciding = set(usage.statements)
    hidden = (each for each in robots.usage_rules(tokens).statements if each not in deciding)
    return UsageAnswer(usage, tuple(hidden), robots.licenses)


def preference_words(usage: Usage) -> str:
    """``search allowed, train-ai disallowed``, escaped."""
    if not usage.applies:
        return "no preference, as the page may not be fetched"
    stated = [f"{safe(label)} {preference}ed" for label, preference in usage.preferences.items()]
    return ", ".join(stated[:MOST]) or "no preference for this page"


def statement_words(statement: UsageStatement) -> str:
    """``line 4: Content-Usage: /a train-ai=n``, escaped; notes invalid ones."""
    invalid = "" if statement.preferences else " (states no preference)"
    return f"line {statement.line}: {safe(as_written(statement))}{invalid}"


def usage_object(answer: UsageAnswer) -> dict[str, Any]:
    """The answer as JSON has it."""
    usage = answer.usage
    statements = [
        {**asdict(each), "preferences": dict(each.preferences), "decides": decides}
        for decides, group in ((True, usage.statements), (False, answer.hidden))
        for each in group
    ]
    return {
        "applies": usage.applies,
        "preferences": dict(usage.preferences),
        "statements": statements,
        "licenses": list(answer.licenses),
    }
