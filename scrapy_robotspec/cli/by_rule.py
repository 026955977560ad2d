"""``check --by-rule``: the rules of a file with their URLs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.protocol.lines import rules_at
from scrapy_robotspec.protocol.paths import path_of
from scrapy_robotspec.protocol.precedence import keyed_patterns, line_start, matching_keys
from scrapy_robotspec.render.as_json import rule_object
from scrapy_robotspec.render.explanation import rule_words
from scrapy_robotspec.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.explanation import Explanation

#: URLs that are shown for each rule.
SHOWN = 3


@dataclass
class _Hits:
    """The URLs that a rule matches."""

    matched: int = 0
    decided: int = 0
    examples: list[str] = field(default_factory=list)


class _Group:
    """The rules that a crawler follows."""

    def __init__(self, robots: RobotsTxt, found: Explanation) -> None:
        self.tokens, self.edition = found.tokens, robots.edition
        rules = robots.file.follow(found.tokens).rules.rules
        self._keyed = keyed_patterns(rules, robots.edition)
        starts = [start for _, value, start in rules if value]
        self.rules = rules_at(robots.body, starts, robots.edition)
        self.hits = {start: _Hits() for start in starts}

    def add(self, url: str) -> None:
        keys = matching_keys(self._keyed, path_of(url, self.edition))
        starts = dict.fromkeys(line_start(key) for key in sorted(keys))  # the deciding one first
        for at, hits in enumerate(self.hits[start] for start in starts if start in self.hits):
            hits.matched += 1
            hits.decided += at == 0
            if len(hits.examples) < SHOWN:
                hits.examples.append(url)


class ByRule:
    """The rules of some files, and the URLs that they match."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[str, ...]], _Group] = {}

    def add(self, name: str, robots: RobotsTxt, found: Explanation) -> None:
        """Count the rules that match a URL.

        Crawlers that follow one group count once.
        """
        if found.verdict is None:
            return
        key = name, found.verdict.group
        group = self._groups.setdefault(key, self._groups.get(key) or _Group(robots, found))
        if group.tokens == found.tokens:
            group.add(found.verdict.resolved or found.url)

    def lines(self) -> Iterator[str]:
        """A line of text for each rule."""
        for name, group, rule, hits in self._rows():
            decided = f" (decides about {hits.decided:,})" if hits.decided < hits.matched else ""
            examples = f": {', '.join(map(safe, hits.examples))}" if hits.examples else ""
            words = rule_words(rule, group.edition)
            yield f"{safe(name)}: {words}  {count(hits.matched, 'URL')}{decided}{examples}"

    def objects(self) -> Iterator[dict[str, Any]]:
        """A JSON object for each rule."""
        for name, group, rule, hits in self._rows():
            yield {"file": name, **rule_object(rule, group.edition), **vars(hits)}

    def _rows(self) -> Iterator[tuple[str, _Group, Any, _Hits]]:
        for (name, _), group in self._groups.items():
            for start, hits in group.hits.items():
                yield name, group, group.rules[start], hits
