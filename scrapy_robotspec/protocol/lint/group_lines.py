"""The groups of a file with their lines (GRP).

Lines outside of groups are found, too.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawGroup, RawOther
    from scrapy_robotspec.protocol.lines import Line

#: Fields of lines that begin groups or are rules.
STRUCTURE = ("user-agent", "allow", "disallow")
#: Fields of lines that :class:`RawOther` is not made for.
_NOT_OTHER = ("", "sitemap", *STRUCTURE)
#: Most names of groups that are compared with one another.
_MOST_NAMES = 20
_START = attrgetter("start")


class GroupLines:
    """A group as the edition reads it, with its lines."""

    def __init__(self, raw: RawGroup, lines: Sequence[Line], edition: Edition) -> None:
        """*lines*: from its first one to the next group's."""
        end = bisect_left(lines, raw.end, key=_START)
        own = lines[:end]
        others = [line for line in own if line.field not in _NOT_OTHER]
        blanks = (line.start for line in lines if not line.field and _is_blank(line, edition))
        self.raw = raw
        #: The user-agent lines.
        self.agents = [line for line in own if line.field == "user-agent"]
        #: The first crawler that they name, as written; else an empty name, or None.
        self.crawler = max(raw.names, key=bool, default=None)
        #: Keys of the crawlers that they name, one for each line that names any.
        self.keys = [key_of(name, edition) for name in raw.names]
        self.rules = [line for line in own if line.field == "allow" or line.field == "disallow"]
        self.others = list(zip(others, raw.others, strict=True))
        #: Lines below the group that belong to none.
        self.outside = lines[end:]
        #: Number of rules above its first blank line, which every edition reads in it.
        self.compared = bisect_left(self.rules, next(blanks, raw.end), key=_START)
        #: User-agent lines below a line that is neither an agent nor a rule.
        self.parted = list(_parted(own, edition)) if len(self.agents) > 1 else []

    @property
    def first(self) -> Line:
        """Its first line."""
        return self.agents[0]

    @property
    def names_default(self) -> bool:
        """Whether it names ``*``."""
        return DEFAULT in self.raw.places

    def shared_default(self, edition: Edition) -> Line | None:
        """The line of ``*``, if it is above a parted one."""
        if not self.parted or not self.names_default:
            return None
        lines = reversed(self.agents)
        default = next(line for line in lines if named_agent(line.value, edition) == DEFAULT)
        return default if default.number < self.parted[-1].number else None

    def crawlers_of(self, other: RawOther) -> tuple[str, ...]:
        """The crawlers that a usage line applies to.

        A group with many names equals no other one: its line number is appended.
        """
        keys = self.keys[other.agents_before : other.agents_above]
        if len(keys) > _MOST_NAMES:
            return (*keys[:_MOST_NAMES], str(self.first.number))
        return tuple(sorted(set(keys), reverse=True))


def read_groups(
    lines: Sequence[Line], groups: Sequence[RawGroup], edition: Edition
) -> tuple[Sequence[GroupLines], Sequence[Line]]:
    """The groups with their lines, and the lines outside of them."""
    numbers = [line.number for line in lines]
    begins = [bisect_left(numbers, raw.first_line) for raw in groups]
    parts = [lines[begin:end] for begin, end in pairwise([0, *begins, len(lines)])]
    found = [GroupLines(raw, part, edition) for raw, part in zip(groups, parts[1:], strict=True)]
    for above, group in pairwise(found):
        if not above.rules:
            group.compared = 0  # most editions read one group
    return found, [*parts[0], *(line for group in found for line in group.outside)]


def _parted(lines: Sequence[Line], edition: Edition) -> Iterator[Line]:
    """User-agent lines below a line that is neither an agent nor a rule."""
    is_parted = False
    for line in lines:
        if line.field == "allow" or line.field == "disallow":
            return
        if line.field == "user-agent":
            if is_parted:
                yield line
            is_parted = False
        elif line.field or _is_blank(line, edition):
            is_parted = True


def _is_blank(line: Line, edition: Edition) -> bool:
    return not line.text.strip(edition.whitespace)
