"""``check --by-rule``: the rules of a file with their URLs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.cli.inputs import robots_url
from scrapy_robotspec.render.as_json import Object, rule_object
from scrapy_robotspec.render.explanation import rule_words
from scrapy_robotspec.render.parsed_file import ParsedFile, Tokens
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.render.explanation import Explanation

#: URLs that are shown for each rule.
SHOWN = 3

#: A file, a rule of it, and how it is read.
_Key = tuple[str, "Rule", "Edition"]


class ByRule:
    """The rules of some files, and the URLs that they match."""

    def __init__(self) -> None:
        self._urls: dict[_Key, list[str]] = {}
        self._decided: Counter[_Key] = Counter()
        self._first: dict[object, Tokens] = {}  # crawlers, by file and group

    def add(self, name: str | None, found: Explanation) -> None:
        """Count the rules that match a URL.

        Crawlers that follow one group count once. *name*: that of the file, if no site has it.
        """
        robots = found.robots
        if robots is None or found.verdict is None:
            return
        name = name or robots_url(found.url)
        key, tokens = (name, found.verdict.group), found.tokens
        if key not in self._first:
            for rule in ParsedFile(robots).group_for(tokens).rules:
                if rule.pattern:
                    self._urls[name, rule, robots.edition] = []
        if self._first.setdefault(key, tokens) == tokens:
            matches = robots.matches(found.asked, tokens)
            for at, rule in enumerate(each for each in matches if each.pattern):
                self._urls[name, rule, robots.edition].append(found.asked)
                self._decided[name, rule, robots.edition] += at == 0

    def lines(self) -> Iterator[str]:
        """A line of text for each rule."""
        for (name, rule, edition), urls in self._urls.items():
            decided = self._decided[name, rule, edition]
            less = f" (decides about {decided:,})" if decided < len(urls) else ""
            examples = f": {', '.join(map(safe, urls[:SHOWN]))}" if urls else ""
            number = f"{count(len(urls), 'URL')}{less}{examples}"
            yield f"{safe(name)}: {rule_words(rule, edition)}  {number}"

    def objects(self) -> Iterator[Object]:
        """A JSON object for each rule."""
        for key, urls in self._urls.items():
            numbers = {"matched": len(urls), "decided": self._decided[key]}
            yield {"file": key[0], **rule_object(*key[1:]), **numbers, "examples": urls[:SHOWN]}
