"""Lines -> groups, and the rules of the groups that a crawler follows.

This reader takes the lines one by one and knows every edition. ``scan.py`` finds the same rules
faster where an edition's lines allow it. Patterns are still octets here; nothing is matched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agents import followed_keys, key_of, named_agent
from scrapy_robotspec.protocol.lines import meanings, skip_byte_order_mark, split_line
from scrapy_robotspec.protocol.values import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition


#: Line ends as FMT-02 has them: a gap of more is an empty line.
_LINE_ENDS = (b"\n", b"\r\n", b"\r", b"")
_NOT_EMPTY = re.compile(rb"[^\r\n]+")

#: An allow or disallow line: whether it allows, its value, the offset of its line in the file.
RawRule = tuple[bool, bytes, int]


class Columns(NamedTuple):
    """Many rules, as a column of each of their parts.

    What it buys: no object for a rule, which the garbage collector would have to look at.
    """

    allows: list[bool]
    values: list[bytes]
    starts: list[int]

    @classmethod
    def of(cls, rules: Sequence[RawRule]) -> Columns:
        """The same rules in columns."""
        return cls(
            [allow for allow, _, _ in rules],
            [value for _, value, _ in rules],
            [start for _, _, start in rules],
        )


class RawOther(NamedTuple):
    """A line with a field that is none of the protocol's."""

    field: str
    value: bytes
    start: int


@dataclass(slots=True)
class RawGroup:
    """A group while it is read."""

    start: int
    names: list[str] = field(default_factory=list)
    rules: list[RawRule] = field(default_factory=list)
    others: list[RawOther] = field(default_factory=list)

    def keys(self, edition: Edition) -> set[str]:
        """What the group's names are compared by."""
        if edition.whole_agent_names and DEFAULT in self.names:
            return {DEFAULT}  # UAG-10: the default record's other names do not count
        return {key_of(name, edition) for name in self.names}


class Followed(NamedTuple):
    """The groups a crawler follows, combined (GRP-08)."""

    names: tuple[str, ...]
    """As first written; ``("*",)`` for the default group, ``()`` when there is none."""
    groups: Sequence[RawGroup]

    @property
    def rules(self) -> list[RawRule]:
        """The rules of all the groups, in file order."""
        return [rule for group in self.groups for rule in group.rules]


def read_groups(body: bytes, edition: Edition) -> list[RawGroup]:
    """Every group of a file, in order (GRP-01 to GRP-06)."""
    groups: list[RawGroup] = []
    group: RawGroup | None = None
    for start, name, value in _directives(body, edition):
        if name == "user-agent":
            if group is None or group.rules:  # a rule line ends the list of agents
                group = RawGroup(start)
                groups.append(group)
            if (agent := named_agent(value, edition)) is not None:
                group.names.append(agent)
        elif name == "":
            group = None
        elif group is None:
            pass  # GRP-05
        elif name == "allow" or name == "disallow":
            group.rules.append((name == "allow", value, start))
        elif name != "sitemap" and edition.other_fields:
            group.others.append(RawOther(name, value, start))
    return groups


def _directives(body: bytes, edition: Edition) -> Iterator[tuple[int, str, bytes]]:
    """Offset, field and value of each valid line; an empty field where a record ends (FMT-15)."""
    meant = meanings(edition)
    fields: dict[bytes, str] = {}  # few names occur, however many lines
    end = skip_byte_order_mark(body, edition)
    for line in _NOT_EMPTY.finditer(body, end):  # a million empty lines cost nothing
        if edition.blank_line_ends_group and body[end : line.start()] not in _LINE_ENDS:
            yield end, "", b""
        end = line.end()
        if pair := split_line(line[0], edition):
            name, value = pair
            known = fields.get(name)
            if known is None:
                known = fields[name] = meant(name)
            yield line.start(), known, value
        elif edition.blank_line_ends_group and not line[0].strip(edition.whitespace):
            yield line.start(), "", b""


def follow(body: bytes, tokens: Sequence[str], edition: Edition) -> Followed:
    """The groups of a file that a crawler with these tokens follows (UAG-01)."""
    groups = read_groups(body, edition)
    keys = [group.keys(edition) for group in groups]
    followed = followed_keys(set().union(*keys), tokens, edition)
    wanted = set(followed)
    chosen = [group for group, present in zip(groups, keys, strict=True) if present & wanted]
    spelt = {
        key_of(name, edition): name for group in reversed(chosen) for name in group.names[::-1]
    }
    return Followed(tuple(spelt[key] for key in followed), chosen)
