"""The compiled rules of one combined group: the longest match decides (PRE-01, PRE-02).

Reading values and spelling paths happen elsewhere; here are only matching and precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.patterns import Pattern, index_page_pattern, read_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule


class Choice(NamedTuple):
    """A pattern of a rule that may decide; a rule has two of them at most (PRE-05)."""

    pattern: Pattern
    allow: bool
    start: int
    """Offset of the rule's line in the file."""
    inert: bool
    """The rule has no path: it is named, and decides nothing."""


def _rank(choice: Choice) -> tuple[int, bool, int]:
    """Longest first, allow before disallow, then in file order."""
    return (-choice.pattern.length, not choice.allow, choice.start)


def _choices(rules: Iterable[RawRule], edition: Edition) -> Iterator[Choice]:
    for allow, value, start in rules:
        if not value:
            if edition.empty_rules_decide_line:
                yield Choice(Pattern(("",), False, 0), allow, start, True)
            continue  # RUL-02
        pattern = read_pattern(value, edition)
        if pattern is not None:
            yield Choice(pattern, allow, start, False)
        if allow and edition.index_html:
            directory = index_page_pattern(value, edition)
            if directory is not None:
                yield Choice(directory, True, start, False)


class RuleSet:
    """The rules of one combined group."""

    __slots__ = ("_choices",)

    def __init__(self, rules: Iterable[RawRule], edition: Edition) -> None:
        self._choices = sorted(_choices(rules, edition), key=_rank)

    def find(self, path: str) -> Choice | None:
        """The choice that decides about a normalised path, or None."""
        return next((c for c in self._choices if c.pattern.matches(path)), None)

    def matching(self, path: str) -> Iterator[Choice]:
        """Every choice that matches, the deciding one first."""
        return (c for c in self._choices if c.pattern.matches(path))
