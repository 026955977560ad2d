"""The differences between two robots.txt that matter to a crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrapy_robotspec.render.explanation import Explanation, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile, RuleKey

_T = TypeVar("_T")

Crawler = tuple[str, ...]

#: Rules that all changes together list in text and on pages; each lists some in any case.
_MOST_RULES = 10_000
_FEWEST_RULES = 10


class Flip(NamedTuple):
    """Two verdicts about one URL that differ."""

    old: Explanation
    new: Explanation


class Side(NamedTuple):
    """The part of one version in a change."""

    group: tuple[str, ...]
    """User agents of the group that applies."""
    rules: tuple[Rule, ...]
    """Rules without an equal one in the other version."""
    others: tuple[tuple[str, str], ...]
    """Fields and values of other lines, such as crawl-delay, that the other version has not."""


class Change(NamedTuple):
    """The changes of a new version for some crawlers, all alike."""

    crawlers: tuple[Crawler, ...]
    old: Side
    new: Side
    flips: tuple[Flip, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the crawlers have to do nothing differently."""
        sides = (self.old, self.new)
        return not (self.flips or any(side.rules or side.others for side in sides))


class FileChanges(NamedTuple):
    """The changes of a new version, by crawlers."""

    changes: tuple[Change, ...]
    sitemaps_removed: tuple[str, ...]
    sitemaps_added: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing that matters changed."""
        return not (self.changes or self.sitemaps_removed or self.sitemaps_added)

    @property
    def removed_lines(self) -> set[int]:
        """Line numbers of all rules removed, in the old version."""
        return {rule.line for change in self.changes for rule in change.old.rules}

    @property
    def added_lines(self) -> set[int]:
        """Line numbers of all rules added, in the new version."""
        return {rule.line for change in self.changes for rule in change.new.rules}

    @property
    def max_rules(self) -> int:
        """Max rules of each kind that a change lists for people.

        A thousand crawlers that leave a group of a thousand rules have a million lines in common.
        """
        return max(_FEWEST_RULES, _MOST_RULES // max(1, len(self.changes)))


def find_changes(
    old: ParsedFile, new: ParsedFile, asked: Sequence[Crawler], urls: Sequence[str | bytes]
) -> FileChanges:
    """The changes for the crawlers ``asked``, and for ``urls``.

    Rules that differ only in spelling, place or order are equal. Crawlers with the same rules in
    both versions share a :class:`Change`.
    """
    alike: dict[object, tuple[GroupSummary, GroupSummary, list[Crawler]]] = {}
    for tokens in asked:
        before, after = old.group_for(tokens), new.group_for(tokens)
        key = (before.first_lines, before.other), (after.first_lines, after.other)
        alike.setdefault(key, (before, after, []))[2].append(tokens)
    found: list[Change] = []
    for before, after, crawlers in alike.values():
        old_rules, new_rules = old.effective_rules(before), new.effective_rules(after)
        sides = (
            _side(before, old_rules, after, new_rules),
            _side(after, new_rules, before, old_rules),
        )
        found.append(Change(tuple(crawlers), *sides, tuple(_flips(old, new, crawlers[0], urls))))
    return FileChanges(
        tuple(change for change in found if not change.is_empty),
        tuple(_without(old.robots.sitemaps, new.robots.sitemaps)),
        tuple(_without(new.robots.sitemaps, old.robots.sitemaps)),
    )


def _side(
    group: GroupSummary,
    rules: Mapping[RuleKey, Rule],
    other: GroupSummary,
    other_rules: Mapping[RuleKey, Rule],
) -> Side:
    """The part of *group* that *other* has not."""
    only = dict.fromkeys(rule for key, rule in rules.items() if key not in other_rules)
    lines, others = ([(each.field, each.value) for each in one.other] for one in (group, other))
    by_line = tuple(sorted(only, key=lambda rule: rule.line))
    return Side(group.names, by_line, tuple(_without(lines, others)))


def _without(items: Sequence[_T], others: Sequence[_T]) -> list[_T]:
    known = set(others)
    return [item for item in dict.fromkeys(items) if item not in known]


def _flips(
    old: ParsedFile, new: ParsedFile, tokens: Crawler, urls: Sequence[str | bytes]
) -> Iterator[Flip]:
    for url in urls:
        before, after = explain(old.robots, url, tokens), explain(new.robots, url, tokens)
        if before.allowed != after.allowed:
            yield Flip(before, after)
