"""Index of user-agent lines: where each agent's rules are.

Searching the bytes for user-agent lines passes over the rules between them. Editions whose lines
are not plain read every line instead.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import has_plain_lines
from scrapy_robotspec.protocol.agents import named_agent
from scrapy_robotspec.protocol.lines import read_field_lines, skip_byte_order_mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Begin and end offsets of rules in the file, alternating. Lines of other fields may be among them.
Spans = tuple[int, ...]
#: Where an agent is named: its name as first written, and the spans of its rules.
Place = tuple[str, list[int]]

_FIELD = b"user-agent"
_FIELD_LENGTH = len(_FIELD)
_WHITE = b" \t"
#: RFC 9309 section 2.2:
#:     rule = *WS ("allow" / "disallow") *WS ":" *WS (path-pattern / empty-pattern) EOL
#: up to its colon, in lower case, and the NL before it: a rule is below a user-agent line.
find_rule = re.compile(rb"[\r\n][ \t]*(?:dis)?allow[ \t]*:").search
#: RFC 9309 section 2.2:
#:     startgroupline = *WS "user-agent" *WS ":" *WS product-token EOL
#: from the field on. The rest of the line is ignored (UAG-03); without a token, the
#: value is read again (UAG-09).
_AGENT = re.compile(rb"[ \t]*:[ \t]*([A-Za-z_-]*)[^\r\n]*").match
#: RFC 9309 section 2.2: EOL = *WS [comment] NL, comment = "#" *(UTF8-char-noctl / WS / "#").
#: A value goes on up to that; white space in it belongs to it, control characters too (FMT-07).
_VALUE = re.compile(rb"[^\r\n#]*")

_ALLOWS = {b"allow": True, b"disallow": False}


class AgentIndex(NamedTuple):
    """The agents that a file names."""

    places: Mapping[str, Place]
    """By key."""
    rules: Mapping[int, Sequence[RawRule]] | None
    """The rules of the groups, by the offset of the first; None if they were not read."""

    def read(self, spans: Spans) -> Sequence[RawRule] | None:
        """The rules of some spans, in file order, if they were read."""
        if self.rules is None:
            return None
        return [rule for begin in spans[::2] for rule in self.rules[begin]]


def index_agents(body: bytes, edition: Edition, beginnings: tuple[bytes, ...] = ()) -> AgentIndex:
    """The agents that a file names.

    With *beginnings*, those of :func:`beginnings_of`, other agents may be left out.
    """
    if has_plain_lines(edition):
        return AgentIndex(_index_plain_lines(body, edition, beginnings), None)
    return _index_lines(body, edition)


def _index_plain_lines(
    body: bytes, edition: Edition, beginnings: tuple[bytes, ...]
) -> Mapping[str, Place]:
    lowered = body.lower()
    index: dict[str, Place] = {}
    named: list[Place] = []  # since the last rule
    begin = 0  # the end of the last user-agent line
    first = skip_byte_order_mark(body, edition)
    at = lowered.find(_FIELD, first)
    while at >= 0:
        after = at + _FIELD_LENGTH
        is_wanted = (
            not beginnings
            or not lowered.startswith(b": ", after)
            or lowered.startswith(beginnings, after + 2)
        )
        begins = (is_wanted or named) and (
            lowered[at - 1] in b"\r\n" or _begins_line(body, at, first)
        )
        if begins and (match := _AGENT(body, after)):  # reads to the line's end
            if named and find_rule(lowered, begin, at):
                _end_group(named, begin, at)
                named = []  # a rule ends the list of agents
            begin = match.end()
            if is_wanted:
                name = match[1].decode() or named_agent(_value_at(body, match.start(1)), edition)
                if name is not None:
                    key = name if edition.case_sensitive_tokens else name.lower()  # ASCII
                    if key not in index:
                        index[key] = (name, [])
                    named.append(index[key])
        at = lowered.find(_FIELD, after)
    _end_group(named, begin, len(body))
    return index


def _end_group(named: Sequence[Place], begin: int, end: int) -> None:
    """Add a group's rules to its agents."""
    for _, spans in named:
        if not spans or spans[-1] != end:  # an agent may be named twice
            spans += begin, end


def _begins_line(body: bytes, place: int, first: int) -> bool:
    """Whether only white space precedes ``place`` on its line."""
    while place > first and body[place - 1] in _WHITE:
        place -= 1
    return place == first or body[place - 1] in b"\r\n"


def _index_lines(body: bytes, edition: Edition) -> AgentIndex:
    from scrapy_robotspec.protocol.groups import read_groups  # few editions need it

    places: dict[str, Place] = {}
    rules: dict[int, Sequence[RawRule]] = {}
    for group in read_groups(body, edition):
        names = group.named(edition).items()
        named = [places.setdefault(key, (name, [])) for key, name in names]
        if group.rules:
            begin = group.rules[0][2]
            rules[begin] = group.rules
            _end_group(named, begin, group.end)
    return AgentIndex(places, rules)


def groups_of(spans: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Begin and end of each group of some spans."""
    return zip(spans[::2], spans[1::2], strict=True)


def rules_in(body: bytes, spans: Spans, edition: Edition) -> list[RawRule]:
    """The rules on the lines of some spans, in file order."""
    groups = groups_of(spans)
    if has_plain_lines(edition):
        return [rule for begin, end in groups for rule in _plain_rules(body[begin:end], begin)]
    return [
        (line.field == "allow", line.value, line.start)
        for begin, end in groups
        for line in read_field_lines(body, edition, begin, end)
        if line.field == "disallow" or line.field == "allow"
    ]


def _plain_rules(part: bytes, start: int) -> list[RawRule]:
    """The rules of a part of a file that begins at an offset."""
    rules: list[RawRule] = []
    kinds: dict[bytes, bool | None] = {}  # by fields as written
    commented = b"#" in part
    for line in part.splitlines(keepends=True):  # hot path
        name, colon, value = line.partition(b":")
        allow = kinds.get(name)
        if allow is None and name not in kinds:
            allow = kinds[name] = _ALLOWS.get(name.strip(_WHITE).lower())
        if allow is not None and colon:
            if commented:
                value = value.partition(b"#")[0]
            rules.append((allow, value.strip(b" \t\r\n"), start))
        start += len(line)
    return rules


def rule_around(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
    """The rule on the line with a colon, if any."""
    start = body.rfind(b"\n", begin, colon) + 1 or begin
    start = body.rfind(b"\r", start, colon) + 1 or start
    allow = _ALLOWS.get(body[start:colon].strip(_WHITE).lower())
    if allow is None:
        return None
    return allow, _value_at(body, colon + 1, end), start


def _value_at(body: bytes, begin: int, end: int = sys.maxsize) -> bytes:
    """The text from an offset to a comment or the line's end."""
    return _VALUE.match(body, begin, end)[0].strip(_WHITE)  # type: ignore[index]  # may be empty
