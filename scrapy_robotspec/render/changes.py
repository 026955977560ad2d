"""The differences between two robots.txt that matter to a crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from scrapy_robotspec.render.explanation import Explanation, explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile

_T = TypeVar("_T")

Crawler = tuple[str, ...]

#: Rules that all changes together list in text and on pages; each lists some in any case.
_MOST_RULES = 10_000
_FEWEST_RULES = 10


class Flip(NamedTuple):
    """Two verdicts about one URL that differ."""

    old: Explanation
    new: Explanation


class Change(NamedTuple):
    """The changes of a new version for some crawlers, all alike."""

    crawlers: tuple[Crawler, ...]
    old_group: tuple[str, ...]
    """User agents of the group that applied."""
    new_group: tuple[str, ...]
    removed: tuple[Rule, ...]
    """Rules of the old version without an equal one in the new version."""
    added: tuple[Rule, ...]
    other_removed: tuple[tuple[str, str], ...]
    """Fields and values of other lines, such as crawl-delay."""
    other_added: tuple[tuple[str, str], ...]
    flips: tuple[Flip, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the crawlers have to do nothing differently."""
        return not (
            self.removed or self.added or self.other_removed or self.other_added or self.flips
        )


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
        return _lines(change.removed for change in self.changes)

    @property
    def added_lines(self) -> set[int]:
        """Line numbers of all rules added, in the new version."""
        return _lines(change.added for change in self.changes)

    @property
    def max_rules(self) -> int:
        """Max rules of each kind that a change lists for people.

        A thousand crawlers that leave a group of a thousand rules have a million lines in common.
        """
        return max(_FEWEST_RULES, _MOST_RULES // max(1, len(self.changes)))


def _lines(lists: Iterable[tuple[Rule, ...]]) -> set[int]:
    return {rule.line for rules in lists for rule in rules}


def find_changes(
    old: ParsedFile, new: ParsedFile, asked: Sequence[Crawler], urls: Sequence[str | bytes]
) -> FileChanges:
    """The changes for the crawlers ``asked``, and for ``urls``.

    Rules that differ only in spelling, place or order are equal. Crawlers with the same rules in
    both versions share a :class:`Change`.
    """
    alike: dict[tuple[object, object], _Alike] = {}
    for tokens in asked:
        before, after = old.group_for(tokens), new.group_for(tokens)
        key = (before.first_lines, before.other), (after.first_lines, after.other)
        alike.setdefault(key, _Alike(before, after, [])).crawlers.append(tokens)
    found = (_change(old, new, each, urls) for each in alike.values())
    return FileChanges(
        tuple(change for change in found if not change.is_empty),
        tuple(_without(old.sitemaps, new.sitemaps)),
        tuple(_without(new.sitemaps, old.sitemaps)),
    )


class _Alike(NamedTuple):
    """Crawlers with the same rules and other lines in both versions."""

    before: GroupSummary
    after: GroupSummary
    crawlers: list[Crawler]


def _change(old: ParsedFile, new: ParsedFile, alike: _Alike, urls: Sequence[str | bytes]) -> Change:
    before, after, crawlers = alike
    old_rules, new_rules = old.effective_rules(before), new.effective_rules(after)
    return Change(
        crawlers=tuple(crawlers),
        old_group=before.names,
        new_group=after.names,
        removed=_by_line(rule for key, rule in old_rules.items() if key not in new_rules),
        added=_by_line(rule for key, rule in new_rules.items() if key not in old_rules),
        other_removed=tuple(_without(_others(before), _others(after))),
        other_added=tuple(_without(_others(after), _others(before))),
        flips=tuple(_flips(old, new, crawlers[0], urls)),
    )


def _by_line(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(dict.fromkeys(rules), key=lambda rule: rule.line))


def _others(group: GroupSummary) -> list[tuple[str, str]]:
    return [(line.field, line.value) for line in group.other]


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
